// SPDX-License-Identifier: GPL-2.0-or-later

// Calls xds:///SERVICE until stdin ends and prints a line per call; see tests/clients/README.md.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	_ "google.golang.org/grpc/xds"
)

// raw passes bytes through; its name replaces the protobuf codec for the calls that use it.
type raw struct{}

func (raw) Name() string                  { return "proto" }
func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (raw) Unmarshal(bytes []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), bytes...)
	return nil
}

func call(connection *grpc.ClientConn) {
	var request, reply []byte

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := connection.Invoke(ctx, "/echo.Echo/Who", &request, &reply, grpc.ForceCodec(raw{}))
	if err != nil {
		fmt.Println("failed", int(status.Code(err)), status.Convert(err).Message())
	} else {
		fmt.Println("ok", string(reply))
	}
}

func main() {
	connection, err := grpc.NewClient("xds:///"+os.Args[1],
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		call(connection)
		time.Sleep(5 * time.Millisecond)
	}
}
