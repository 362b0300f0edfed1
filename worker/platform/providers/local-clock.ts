import { z } from 'zod';
import { formatErrorChain } from '#core/errors.ts';
import { checkedConfig, type Env } from '#platform/context.ts';
import { noteAhead } from '#platform/local-clock.ts';
import { logRequest } from '#platform/log.ts';

const TIMEOUT_MS = 1000;
const Answer = z.object({ result: z.number().min(0) });

/**
 * Reads the local chain's clock before each invocation on a local machine, so that the next purchase after a warp uses the new time. Does
 * nothing without a local chain.
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
    logRequest({ request_id: 'local_clock', notes: [`rpc: ${formatErrorChain(error)}`] });
  }
}
