// SPDX-License-Identifier: GPL-2.0-or-later

// The validators that protoc-gen-validate has generated for the Envoy API, as go-control-plane ships them: what
// tests/oracle/rules.py compares xdspub with.
//
//	validate --descriptors FILE   writes the FileDescriptorSet of the API that is compiled in
//	validate --types              lists the messages that have a validator
//	validate                      answers each message on standard input (length and name of its type, length and
//	                              bytes; lengths are four bytes, little endian) with a line of JSON: the paths of
//	                              the fields that break a rule, or null when the bytes are no such message
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sort"
	"strings"

	_ "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/ratelimit/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/trace/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/file/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/compressor/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/oauth2/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/redis_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/runtime/v3"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

type validator interface{ ValidateAll() error }
type several interface{ AllErrors() []error }
type failure interface {
	Field() string
	Reason() string
	Cause() error
}

// Files stand behind those that they import.
func addFile(set *descriptorpb.FileDescriptorSet, seen map[string]bool, file protoreflect.FileDescriptor) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for i := 0; i < file.Imports().Len(); i++ {
		addFile(set, seen, file.Imports().Get(i).FileDescriptor)
	}
	set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
}

func writeDescriptors(path string) {
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		addFile(set, seen, file)
		return true
	})
	bytes, err := proto.Marshal(set)
	if err == nil {
		err = os.WriteFile(path, bytes, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func listTypes() {
	var names []string
	protoregistry.GlobalTypes.RangeMessages(func(kind protoreflect.MessageType) bool {
		if _, ok := kind.New().Interface().(validator); ok {
			names = append(names, string(kind.Descriptor().FullName()))
		}
		return true
	})
	sort.Strings(names)
	for _, name := range names {
		if strings.HasPrefix(name, "envoy.") {
			fmt.Println(name)
		}
	}
}

// The paths of all failures: a failure of a message below is a failure of what is in it.
func collect(err error, path string, found *[]string) {
	var all several
	var one failure

	if errors.As(err, &all) {
		for _, each := range all.AllErrors() {
			collect(each, path, found)
		}
	} else if errors.As(err, &one) {
		path = strings.TrimPrefix(path+"."+one.Field(), ".")
		if strings.Contains(one.Reason(), "unique items") {
			path = path[:strings.LastIndexByte(path, '[')] // of the list, not of one of the equal items
		}
		if cause := one.Cause(); cause != nil && (errors.As(cause, &all) || errors.As(cause, new(failure))) {
			collect(cause, path, found)
		} else {
			*found = append(*found, path)
		}
	} else if err != nil {
		*found = append(*found, path)
	}
}

func check(name string, bytes []byte) []string {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		return nil
	}
	message := kind.New().Interface()
	if proto.Unmarshal(bytes, message) != nil {
		return nil
	}
	found := []string{}
	if checked, ok := message.(validator); ok {
		collect(checked.ValidateAll(), "", &found)
	}
	return found
}

func readPart(in *bufio.Reader) ([]byte, error) {
	var length uint32

	if err := binary.Read(in, binary.LittleEndian, &length); err != nil {
		return nil, err
	}
	part := make([]byte, length)
	_, err := io.ReadFull(in, part)
	return part, err
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "--descriptors" {
		writeDescriptors(os.Args[2])
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "--types" {
		listTypes()
		return
	}
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for answers := json.NewEncoder(out); ; {
		name, err := readPart(in)
		if err == io.EOF {
			return
		}
		bytes, err := readPart(in)
		if err != nil {
			log.Fatal(err)
		}
		if err := answers.Encode(check(string(name), bytes)); err != nil {
			log.Fatal(err)
		}
	}
}
