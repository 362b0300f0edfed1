import type { TestProject } from 'vitest/node';
import { startChainServer } from '../../../local/chain/rpc/server.ts';
import { startOutside } from '../../../local/outside/outside.ts';
import { startPriceSource } from '../../../local/service/price-source.ts';
import { startMailServer } from '../servers/mail-server.ts';
import { startReceiver } from '../servers/receiver.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    chainUrl: string;
    receiverUrl: string;
    priceUrl: string;
    mailUrl: string;
    outsideUrl: string;
  }
}

/**
 * Starts one chain server, webhook consumer, price source, email provider and set of outside services for all test files. Each world of a
 * test has its own state on these servers.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startChainServer({ port: 0 });
  const receiver = await startReceiver();
  const prices = await startPriceSource();
  const [mail, outside] = await Promise.all([startMailServer(), startOutside()]);
  project.provide('chainUrl', server.url);
  project.provide('receiverUrl', receiver.url);
  project.provide('priceUrl', prices.url);
  project.provide('mailUrl', mail.url);
  project.provide('outsideUrl', outside.url);
  return async () => {
    await Promise.all([server.close(), receiver.close(), prices.close(), mail.close(), outside.close()]);
  };
}
