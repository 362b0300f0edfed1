import worker from '../../worker/index.ts';
import { invoked } from './invocation.ts';
import type { World } from './world.ts';

/** A file, as it is served. */
export async function fetchBytes(w: World, path: string, key?: string): Promise<{ status: number; headers: Headers; bytes: Uint8Array }> {
  const request = new Request(`https://svc.test${path}`, { headers: key ? { 'X-Svc-Key': key } : {} });
  return invoked(`GET ${path}`, async (execution) => {
    const response = await worker.fetch(request, w.env, execution);
    return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
  });
}
