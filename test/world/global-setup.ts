import type { TestProject } from 'vitest/node';
import { startChainServer } from '../../local/chain/server.ts';
import { startReceiver } from './receiver.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    chainUrl: string;
    receiverUrl: string;
  }
}

/** One chain server and one consumer of webhooks for all test files; each opens a chain, and boxes, of its own on them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startChainServer({ port: 0 });
  const receiver = await startReceiver();
  project.provide('chainUrl', server.url);
  project.provide('receiverUrl', receiver.url);
  return async () => {
    await Promise.all([server.close(), receiver.close()]);
  };
}
