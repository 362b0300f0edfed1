import { z } from 'zod';
import { storyOf } from '#core/errors.ts';
import { checkedConfig, type Env } from '#platform/context.ts';
import { noteAhead } from '#platform/local-clock.ts';
import { logRequest } from '#platform/log.ts';

const TIMEOUT_MS = 1000;
const Answer = z.object({ result: z.number().min(0) });

/**
 * Before each invocation on a local machine: business time goes on from where the local chain was moved to. Asked every time, because the
 * next purchase after a warp must already be of the new time. Where no local chain is configured, none is asked.
 */
export async function followLocalClock(env: Env): Promise<void> {
  const url = checkedConfig(env).config?.LOCAL_CLOCK_URL;
  if (url === undefined) return;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'local_warped' }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    noteAhead(url, Answer.parse(await response.json()).result);
  } catch (error) {
    logRequest({ request_id: 'local_clock', notes: [`rpc: ${storyOf(error)}`] });
  }
}
