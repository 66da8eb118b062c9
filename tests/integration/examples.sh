#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every tree in examples/ compiles as it stands, without a word but that a part of Envoy is unfinished.
set -u
count=0

check()
{
	count=$((count + 1))
	output=$("$XDSPUB" check "$1" 2>&1) && status=0 || status=$?
	if [ $status = 0 ] && [ -z "$(echo "$output" | grep -v '\[work-in-progress\]$')" ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		echo "$output" | sed 's/^/# /'
	fi
}

for tree in "${top_srcdir:?}"/examples/*/; do
	check "$tree" "examples/$(basename "$tree")"
done
echo "1..$count"
