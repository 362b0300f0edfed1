import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface NoNode {
  url: string;
  close(): void;
}

/** Calls that the service makes by itself, from its first request and its cron. */
const OWN_CALLS = /getGenesisHash|getHealth|getSignaturesForAddress/;

/** Answers for the Solana node that a sandbox lacks, so that a call of live mode fails at once: 503 rpc_unavailable. */
export async function startNoNode(onLiveCall: () => void): Promise<NoNode> {
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '');
    if (!OWN_CALLS.test(body)) onLiveCall();
    response.writeHead(503, { 'content-type': 'text/plain' }).end('The sandbox has no Solana node.');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
