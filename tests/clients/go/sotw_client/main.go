// SPDX-License-Identifier: GPL-2.0-or-later

// go-control-plane's SotW client: asks ADDRESS for every resource of TYPE (a message's full name) until stdin ends
// and prints a line per response; see tests/clients/README.md.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"github.com/envoyproxy/go-control-plane/pkg/client/sotw/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	_ "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
)

func nameOf(resource *anypb.Any) (string, error) {
	message, err := resource.UnmarshalNew()
	if err != nil {
		return "", err
	}
	named, ok := message.(interface {
		proto.Message
		GetName() string
	})
	if !ok {
		return "", fmt.Errorf("no name: %s", resource.TypeUrl)
	}
	return named.GetName(), nil
}

// show prints a response, or says why it is refused.
func show(response *sotw.Response) error {
	var names []string

	for _, resource := range response.Resources {
		name, err := nameOf(resource)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Println("got", strings.Join(names, ","))
	return nil
}

// follow reads one stream to its end.
func follow(client sotw.ADSClient, connection *grpc.ClientConn) error {
	if err := client.InitConnect(connection, grpc.WaitForReady(true)); err != nil {
		return err
	}
	fmt.Println("connected")
	for {
		response, err := client.Fetch()
		if err != nil {
			return err
		}
		if err = show(response); err != nil {
			fmt.Println("failed", err)
			err = client.Nack(err.Error())
		} else {
			err = client.Ack()
		}
		if err != nil {
			return err
		}
	}
}

func main() {
	address, kind := os.Args[1], os.Args[2]
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	node := &core.Node{Id: "sotw", Cluster: "clients"}
	client := sotw.NewADSClient(context.Background(), node, "type.googleapis.com/"+kind)
	for {
		err := follow(client, connection)
		if !sotw.IsConnError(err) {
			fmt.Println("failed", err)
		} else {
			fmt.Println("disconnected")
		}
		time.Sleep(100 * time.Millisecond)
	}
}
