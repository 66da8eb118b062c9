#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every tree in examples/ compiles as it stands, without a word but that a part of Envoy is unfinished;
# every bootstrap there is one.
set -u
count=0

# The first argument names it; anything printed is an error.
silent()
{
	name=$1
	shift
	count=$((count + 1))
	output=$("$@" 2>&1) && status=0 || status=$?
	if [ "$status" = 0 ] && [ -z "$output" ]; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		echo "$output" | sed 's/^/# /'
	fi
}

for tree in "${top_srcdir:?}"/examples/*/; do
	silent "examples/$(basename "$tree")" "$XDSPUB" check --strict "$tree"
done
silent "examples/grpc-clients for gRPC libraries" "$XDSPUB" check --strict --profile grpc "$top_srcdir/examples/grpc-clients"
for file in "$top_srcdir"/examples/envoy-*.yaml; do
	silent "examples/$(basename "$file")" "$XDSPUB" check --strict --as bootstrap "$file"
done
echo "1..$count"
