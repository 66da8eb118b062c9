/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_wire.h"

bool xds_wire_varint(struct slice *rest, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && rest->length; shift += 7) {
		uint8_t byte = (uint8_t)rest->data[0];

		rest->data++;
		rest->length--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

bool xds_wire_next(struct slice *rest, struct xds_field *ret_field)
{
	uint64_t tag, length = 0;

	*ret_field = (struct xds_field){0};
	if (!xds_wire_varint(rest, &tag))
		return false;
	ret_field->number = tag >> 3;
	ret_field->wire = tag & 7;
	switch (ret_field->wire) {
	case XDS_WIRE_VARINT:
		return xds_wire_varint(rest, &ret_field->value);
	case XDS_WIRE_BYTES:
		if (!xds_wire_varint(rest, &length))
			return false;
		break;
	case XDS_WIRE_64:
		length = 8;
		break;
	case XDS_WIRE_32:
		length = 4;
		break;
	default:
		return false;
	}
	if (length > rest->length)
		return false;
	ret_field->bytes = (struct slice){rest->data, (size_t)length};
	rest->data += length;
	rest->length -= (size_t)length;
	return true;
}
