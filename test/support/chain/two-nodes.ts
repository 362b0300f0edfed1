import { World } from '../world.ts';
import type { TestChain } from './chain.ts';

export function withTwoNodes(): { w: World; first: TestChain; second: TestChain } {
  const w = new World();
  const first = w.chain;
  const second = first.node('b');
  Object.assign(w.env, { RPC_URLS: `${first.url},${second.url}` });
  return { w, first, second };
}
