import type { TestProject } from 'vitest/node';
import { startChainServer } from '../../local/chain/server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    chainUrl: string;
  }
}

/** One chain server for all test files; each file opens a chain of its own on it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startChainServer({ port: 0 });
  project.provide('chainUrl', server.url);
  return () => server.close();
}
