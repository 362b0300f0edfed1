import { SECOND } from '#core/time.ts';

const TIMEOUT_MS = 5 * SECOND;
const BYTES_MAX = 4096;

/**
 * Reads a host's `/.well-known/svc-merchant.json`. `holds`: the file names account and token. `differs`: any other answer. `silent`: no
 * answer, or a temporary failure. Redirects are not followed.
 */
export async function readProof(
  { leftMs }: { leftMs(): number },
  host: string,
  expected: { accountId: string; token: string },
): Promise<'holds' | 'differs' | 'silent'> {
  try {
    const signal = AbortSignal.timeout(Math.min(TIMEOUT_MS, leftMs()));
    const response = await fetch(`https://${host}/.well-known/svc-merchant.json`, {
      redirect: 'manual',
      signal,
      headers: { accept: 'application/json' },
    });
    if (!response.ok) {
      await response.body?.cancel();
      return response.status >= 500 || response.status === 429 ? 'silent' : 'differs';
    }
    return isProof(await readBounded(response), expected) ? 'holds' : 'differs';
  } catch {
    return 'silent';
  }
}

async function readBounded(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let part = await reader?.read(); part && !part.done; part = await reader!.read()) {
    text += decoder.decode(part.value, { stream: true });
    if (text.length > BYTES_MAX) {
      await reader!.cancel();
      break;
    }
  }
  return text;
}

function isProof(text: string, { accountId, token }: { accountId: string; token: string }): boolean {
  try {
    const shown = JSON.parse(text) as { account_id?: unknown; token?: unknown } | null;
    return shown?.account_id === accountId && shown.token === token;
  } catch {
    return false;
  }
}
