import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { Client } from '../../sdk/src/api/client.ts';
import { protect } from '../../sdk/src/fetch.ts';

async function* generateText(subject: string): AsyncGenerator<string> {
  for (let index = 1; ; index++) {
    await sleep(1);
    yield `${subject}-${index}`;
  }
}

/** Example: a server that sells text by the piece, at 0.000007 USDC each and at most 40 pieces an answer. */
export function openTextShop(client: Client, product: string, onError: (error: unknown) => void): Server {
  const metered = { unitPrice: '0.000007', cap: '0.001', unitsMax: 40 };
  const shop = protect({ client, product, metered, onError }, (request, access) =>
    access.stream(generateText(new URL(request.url).searchParams.get('about') ?? 'nothing')),
  );
  return createServer(getRequestListener(shop));
}
