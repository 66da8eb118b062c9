# SPDX-License-Identifier: GPL-2.0-or-later
"""Random messages of any type of a descriptor set, valid in every format unless asked otherwise."""
import random
import struct

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

WORDS = ["", "a", "plain", "with space", "yes", "No", "null", "~", "true", "1.10", "0777", "1:30", "-", "- a",
         "a: b", "a #b", "#", "@x", "`", "%", "&a", "*a", "!t", "|", ">", "{", "[", "'", '"', "\\", "\n", "a\nb",
         "\t", "\r\n", " lead", "trail ", "\x01\x1f\x7f", "\u0080\u009f\u0085", "\u2028\u2029", "\ufeff", "\ufffe",
         "caf\u00e9", "\u65e5\u672c", "\U0001f600", "=", "<<", "---", "...", "0x1f", "1e3", "1E+5", ".5", ".inf", "nan",
         "Infinity", "2001-01-01", "0b1", "1_000", "y", "on", "12345678901234567890", "/path", "a.b/c-d_e", "v1",
         "<html>&amp;", "x" * 200, "\u00e9" * 100, "a,b", "?", "? a", "key:", ":", "a'b", "0.0.0.0", "::1"]
INTEGERS = [0, 1, -1, 2, 127, 128, 255, 256, 2**31 - 1, -2**31, 2**31, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1,
            -2**63, 2**64 - 1, 10**9, 10**18]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1.5, 1e-5, 1e15, 1e16, 1e17, 1e20, 1e22, 1e300, -1e300, 5e-324, 1.7976931348623157e308,
           2.2250738585072014e-308, 123456.789, 0.30000000000000004, 2.0**53, 5000000000.0, 4294967296.0, 2147483648.0,
           1e6, 999999.999, 1234.5678, float("inf"), float("-inf"), float("nan")]
FLOATS = [0.0, -0.0, 1.0, 0.1, 16777216.0, 3.4028234663852886e38, 1e-45, 1.17549435e-38, 0.3, 1e10, float("inf"),
          float("-inf"), float("nan")]


def load_pool(path):
    """The pool of a descriptor set and its message classes by name."""
    files = descriptor_pb2.FileDescriptorSet()
    with open(path, "rb") as file:
        files.ParseFromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    # The newer spelling first: the older is gone from protobuf 5.
    get_class = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype

    def find(name):
        return get_class(pool.FindMessageTypeByName(name))
    return pool, find


class Generator:
    def __init__(self, pool, find, seed, any_types=(), finite=False):
        self.pool, self.find, self.random = pool, find, random.Random(seed)
        self.any_types, self.finite = list(any_types), finite

    def integer(self, low, high):
        pick = self.random
        if pick.random() < 0.5:
            return max(low, min(high, pick.choice(INTEGERS)))
        return max(low, min(high, pick.getrandbits(pick.randint(1, 64)) * pick.choice([1, -1])))

    def double(self, single=False):
        pick = self.random
        while True:
            if pick.random() < 0.5:
                value = pick.choice(FLOATS if single else DOUBLES)
            elif pick.random() < 0.5:
                value = round(pick.uniform(-10000, 10000), pick.randint(0, 6))
            elif single:
                value = struct.unpack("<f", struct.pack("<I", pick.getrandbits(32)))[0]
            else:
                value = struct.unpack("<d", struct.pack("<Q", pick.getrandbits(64)))[0]
            if value != value:
                value = float("nan")
            if not (self.finite and (value != value or value in (float("inf"), float("-inf")))):
                break
        return struct.unpack("<f", struct.pack("<f", value))[0] if single and abs(value) < 3e38 else value

    def text(self):
        pick = self.random
        if pick.random() < 0.7:
            return pick.choice(WORDS)
        return "".join(chr(pick.choice([pick.randint(1, 127), pick.randint(32, 126), pick.randint(0xa0, 0x2fff)]))
                       for _ in range(pick.randint(0, 30)))

    def scalar(self, field):
        kind = field.type
        if kind == field.TYPE_DOUBLE:
            return self.double()
        if kind == field.TYPE_FLOAT:
            return self.double(single=True)
        if kind in (field.TYPE_INT32, field.TYPE_SINT32, field.TYPE_SFIXED32):
            return self.integer(-2**31, 2**31 - 1)
        if kind in (field.TYPE_INT64, field.TYPE_SINT64, field.TYPE_SFIXED64):
            return self.integer(-2**63, 2**63 - 1)
        if kind in (field.TYPE_UINT32, field.TYPE_FIXED32):
            return self.integer(0, 2**32 - 1)
        if kind in (field.TYPE_UINT64, field.TYPE_FIXED64):
            return self.integer(0, 2**64 - 1)
        if kind == field.TYPE_BOOL:
            return self.random.random() < 0.5
        if kind == field.TYPE_STRING:
            return self.text()
        if kind == field.TYPE_BYTES:
            return bytes(self.random.getrandbits(8) for _ in range(self.random.randint(0, 20)))
        values = field.enum_type.values
        open_enum = (field.enum_type.file.syntax == "proto3" and field.file.syntax == "proto3" and
                     field.enum_type.name != "NullValue")
        if open_enum and self.random.random() < 0.1:
            return self.integer(-2**31, 2**31 - 1)
        return self.random.choice(values).number

    def well_known(self, message, depth):
        """True when the type has rules of its own."""
        pick, name = self.random, message.DESCRIPTOR.full_name
        if name == "google.protobuf.Duration":
            sign = pick.choice([1, -1])
            message.seconds = sign * pick.choice([0, 1, 59, 315576000000, pick.getrandbits(30)])
            message.nanos = 0 if abs(message.seconds) == 315576000000 else sign * pick.choice(
                [0, 1, 999999999, 500000000, 1000, 250000, pick.randint(0, 999999999)])
        elif name == "google.protobuf.Timestamp":
            message.seconds = pick.choice([0, -62135596800, 253402300799, pick.getrandbits(31), -pick.getrandbits(34),
                                           951782400, 951868800, 4107542400, pick.randint(-62135596800, 253402300799)])
            message.nanos = pick.choice([0, 1, 999999999, 500000000, 1000, 250000])
        elif name == "google.protobuf.FieldMask":
            message.paths.extend(pick.choice(["a", "foo_bar", "foo_bar.baz_x", "a.b.c"]) for _ in range(pick.randint(0, 4)))
        elif name == "google.protobuf.Value":
            kind = pick.randint(0, 5 if depth < 6 else 3)
            if kind == 0:
                message.null_value = 0
            elif kind == 1:
                value = self.double()
                message.number_value = value if value == value and abs(value) != float("inf") else 7.25
            elif kind == 2:
                message.string_value = self.text()
            elif kind == 3:
                message.bool_value = pick.random() < 0.5
            elif kind == 4:
                message.struct_value.SetInParent()
                self.fill(message.struct_value, depth + 1)
            else:
                message.list_value.SetInParent()
                self.fill(message.list_value, depth + 1)
        elif name == "google.protobuf.Any":
            if self.any_types and depth < 6:
                content = self.find(pick.choice(self.any_types))()
                self.fill(content, depth + 2)
                message.Pack(content, deterministic=True)
        else:
            return False
        return True

    def fill(self, message, depth=0):
        pick = self.random
        if self.well_known(message, depth):
            return message
        fields = list(message.DESCRIPTOR.fields)
        share = min(1.0, 8 / max(1, len(fields))) * (0.9 if depth < 2 else 0.5)
        for field in fields:
            required = field.label == field.LABEL_REQUIRED
            if not required and (pick.random() > share or depth > 8):
                continue
            self.set(message, field, depth)
        if message.DESCRIPTOR.is_extendable:
            for field in self.pool.FindAllExtensions(message.DESCRIPTOR):
                if pick.random() < 0.3 and depth < 6:
                    self.set_extension(message, field, depth)
        return message

    def set(self, message, field, depth):
        target = getattr(message, field.name)
        if field.message_type and field.message_type.GetOptions().map_entry:
            key_field, value_field = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
            for _ in range(self.random.randint(1, 4)):
                key = self.scalar(key_field)
                if value_field.message_type:
                    self.fill(target[key], depth + 2)
                else:
                    target[key] = self.scalar(value_field)
        elif field.label == field.LABEL_REPEATED:
            for _ in range(self.random.randint(1, 4)):
                if field.message_type:
                    self.fill(target.add(), depth + 1)
                else:
                    target.append(self.scalar(field))
        elif field.message_type:
            target.SetInParent()
            self.fill(target, depth + 1)
        else:
            setattr(message, field.name, self.scalar(field))

    def set_extension(self, message, field, depth):
        if field.label == field.LABEL_REPEATED:
            for _ in range(self.random.randint(1, 3)):
                if field.message_type:
                    self.fill(message.Extensions[field].add(), depth + 1)
                else:
                    message.Extensions[field].append(self.scalar(field))
        elif field.message_type:
            message.Extensions[field].SetInParent()
            self.fill(message.Extensions[field], depth + 1)
        else:
            message.Extensions[field] = self.scalar(field)
