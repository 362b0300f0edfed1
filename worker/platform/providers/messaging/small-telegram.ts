import { z } from 'zod';
import { SECOND } from '#core/time.ts';
import type { Ctx } from '../../context.ts';

const World = z.object({
  chats: z.array(
    z.object({
      id: z.string(),
      members: z.array(z.string()),
      invites: z.array(z.object({ link: z.string(), isRevoked: z.boolean(), used: z.int() })),
    }),
  ),
  messages: z.array(z.object({ to: z.string(), text: z.string() })),
});
export type SmallTelegramWorld = z.infer<typeof World>;

const TIMEOUT_MS = 5 * SECOND;

/** Simulator page of the configured bot. Null if the real Telegram or no bot is configured. */
function pageOf({ TELEGRAM_API_URL: base, TELEGRAM_BOT_TOKEN: token }: Ctx['config']): string | null {
  const { origin, hostname } = new URL(base);
  return token !== undefined && hostname === '127.0.0.1' ? `${origin}/telegram-world/${encodeURIComponent(token)}` : null;
}

/** State of the simulator after a person's `change`. Null if there is no simulator, or no answer. */
export async function callSmallTelegram({ config }: Ctx, change?: Record<string, string>): Promise<SmallTelegramWorld | null> {
  const url = pageOf(config);
  if (url === null) return null;
  try {
    const init = change ? { method: 'POST', body: JSON.stringify(change) } : {};
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    return World.parse(await response.json());
  } catch {
    return null;
  }
}
