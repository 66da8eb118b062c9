#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every tree in examples/ compiles as it stands, without a word.
set -u
count=0

check()
{
	count=$((count + 1))
	if output=$("$XDSPUB" check "$1" 2>&1) && [ -z "$output" ]; then
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
