import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { type Client, createClient } from '../../sdk/src/index.ts';
import worker from '../../worker/index.ts';
import type { World } from '../support/world.ts';

/** Intercepts a request, to lose the answer after the service has acted. */
export type Wire = (request: Request, send: () => Promise<Response>) => Promise<Response>;

export function clientOf(w: World, key: string, wire: Wire = (_request, send) => send()): Client {
  const send = async (request: Request) => {
    const execution = createExecutionContext();
    const response = await worker.fetch(request as never, w.env, execution);
    await waitOnExecutionContext(execution);
    return response;
  };
  return createClient({ baseUrl: 'https://svc.test', key, fetch: (request) => wire(request, () => send(request)) });
}
