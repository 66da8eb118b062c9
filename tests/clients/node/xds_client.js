// SPDX-License-Identifier: GPL-2.0-or-later
// Calls xds:///SERVICE until stdin ends and prints a line per call; see tests/clients/README.md.
'use strict';
const grpc = require('@grpc/grpc-js');
require('@grpc/grpc-js-xds').register();

const same = (bytes) => bytes;
const client = new grpc.Client('xds:///' + process.argv[2], grpc.credentials.createInsecure());

function call() {
	const options = {deadline: Date.now() + 10000};
	client.makeUnaryRequest('/echo.Echo/Who', same, same, Buffer.alloc(0), options, (error, reply) => {
		console.log(error ? `failed ${error.code} ${error.details}` : `ok ${reply}`);
		setTimeout(call, 5);
	});
}

process.stdin.on('end', () => process.exit(0)).resume();
call();
