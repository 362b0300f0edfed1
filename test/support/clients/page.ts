import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import worker from '../../../worker/index.ts';
import type { World } from '../world.ts';

export const directivesOf = (headers: Headers): Record<string, string[]> =>
  Object.fromEntries(
    headers
      .get('content-security-policy')!
      .split('; ')
      .map((directive) => [directive.split(' ')[0]!, directive.split(' ').slice(1)]),
  );

export async function getPage(w: World, path: string, headers: Record<string, string> = {}, env = w.env) {
  const execution = createExecutionContext();
  const response = await worker.fetch(new Request(`https://svc.test${path}`, { headers }), env, execution);
  const html = await response.text();
  await waitOnExecutionContext(execution);
  return { status: response.status, html, headers: response.headers };
}
