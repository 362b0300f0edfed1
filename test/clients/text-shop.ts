import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { Client } from '../../sdk/src/api/client.ts';
import { protect } from '../../sdk/src/fetch.ts';

/** A text, word by word, as a model would make it. */
async function* wordsAbout(subject: string): AsyncGenerator<string> {
  for (let word = 1; ; word++) {
    await sleep(1);
    yield `${subject}-${word}`;
  }
}

/** An example: a server that sells text by the word, at seven millionths of a USDC each and at most forty words an answer. */
export function openTextShop(client: Client, product: string, onError: (error: unknown) => void): Server {
  const metered = { unitPrice: '0.000007', cap: '0.001', unitsMax: 40 };
  const shop = protect({ client, product, metered, onError }, (request, access) =>
    access.stream(wordsAbout(new URL(request.url).searchParams.get('about') ?? 'nothing')),
  );
  return createServer(getRequestListener(shop));
}
