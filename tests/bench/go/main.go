// SPDX-License-Identifier: GPL-2.0-or-later

// What xdspub's gRPC is measured against: go-control-plane's snapshot cache behind its own server,
// set up as its documentation and example say for ADS, with the same resources.
//
//	usage: gocontrolplane FOLDER
//
// FOLDER is what `xdspub build --format pb` published for one group. Prints the port. A line on
// stdin names the .pb file of one load assignment that changed; every node gets it. Ends with stdin.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/proto"

	_ "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
)

const group = "all"

// Every node has the same resources: one snapshot, as with xdspub's one group.
type oneGroup struct{}

func (oneGroup) ID(*core.Node) string { return group }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(path string) []types.Resource {
	bytes, err := os.ReadFile(path)
	check(err)
	var response discovery.DiscoveryResponse
	check(proto.Unmarshal(bytes, &response))
	var resources []types.Resource
	for _, body := range response.GetResources() {
		message, err := body.UnmarshalNew()
		check(err)
		resources = append(resources, message)
	}
	return resources
}

func readAll(pattern string) []types.Resource {
	paths, err := filepath.Glob(pattern)
	check(err)
	var resources []types.Resource
	for _, path := range paths {
		resources = append(resources, read(path)...)
	}
	return resources
}

// An edit gives only the load assignments another version: nobody gets clusters again for it.
type source struct {
	clusters, listeners cache.Resources
	endpoints           []types.Resource
	place               map[string]int
	edits               int
}

func (s *source) change(path string) {
	for _, message := range read(path) {
		name := message.(*endpoint.ClusterLoadAssignment).GetClusterName()
		index, found := s.place[name]
		if !found {
			log.Fatalf("%s: unknown cluster %s", path, name)
		}
		s.endpoints[index] = message
	}
	s.edits++
}

func (s *source) snapshot() *cache.Snapshot {
	var snapshot cache.Snapshot
	snapshot.Resources[types.Cluster] = s.clusters
	snapshot.Resources[types.Listener] = s.listeners
	snapshot.Resources[types.Endpoint] = cache.NewResources(strconv.Itoa(s.edits), s.endpoints)
	return &snapshot
}

func load(folder string) *source {
	s := &source{
		clusters:  cache.NewResources("0", readAll(filepath.Join(folder, "cds", "*.pb"))),
		listeners: cache.NewResources("0", readAll(filepath.Join(folder, "lds", "*.pb"))),
		endpoints: readAll(filepath.Join(folder, "eds", "*", "*.pb")),
		place:     map[string]int{},
	}
	for index, message := range s.endpoints {
		s.place[cache.GetResourceName(message)] = index
	}
	return s
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gocontrolplane FOLDER")
	}
	source := load(os.Args[1])
	first := source.snapshot()
	check(first.Consistent())
	snapshots := cache.NewSnapshotCache(true, oneGroup{}, nil)
	check(snapshots.SetSnapshot(context.Background(), group, first))

	// The values of go-control-plane's example.
	transport := grpc.NewServer(
		grpc.MaxConcurrentStreams(1000000),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			Time: 30 * time.Second, Timeout: 5 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime: 30 * time.Second, PermitWithoutStream: true}))
	discovery.RegisterAggregatedDiscoveryServiceServer(
		transport, server.NewServer(context.Background(), snapshots, nil))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go func() { check(transport.Serve(listener)) }()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)

	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		source.change(lines.Text())
		check(snapshots.SetSnapshot(context.Background(), group, source.snapshot()))
	}
}
