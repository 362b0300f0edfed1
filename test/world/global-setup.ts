import type { TestProject } from 'vitest/node';
import { startChainServer } from '../../local/chain/server.ts';
import { startPriceSource } from '../../local/price-source.ts';
import { startReceiver } from './receiver.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    chainUrl: string;
    receiverUrl: string;
    priceUrl: string;
  }
}

/** One chain server, one consumer of webhooks and one price source for all test files; each opens places of its own on them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startChainServer({ port: 0 });
  const receiver = await startReceiver();
  const prices = await startPriceSource();
  project.provide('chainUrl', server.url);
  project.provide('receiverUrl', receiver.url);
  project.provide('priceUrl', prices.url);
  return async () => {
    await Promise.all([server.close(), receiver.close(), prices.close()]);
  };
}
