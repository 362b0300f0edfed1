import { z } from 'zod';
import { SECOND } from '#core/time.ts';
import type { Ctx } from '../../context.ts';

/** Chats and messages of the small Telegram of local development, as it shows them itself. */
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

/** Its page about the bot of the configuration. Null where the configuration names the real Telegram, or no bot. */
function pageOf({ TELEGRAM_API_URL: base, TELEGRAM_BOT_TOKEN: token }: Ctx['config']): string | null {
  const { origin, hostname } = new URL(base);
  return token !== undefined && hostname === '127.0.0.1' ? `${origin}/telegram-world/${encodeURIComponent(token)}` : null;
}

/** What is in the small Telegram after `change`, which a person made there. Null where there is none, or it does not answer. */
export async function lookAtSmallTelegram({ config }: Ctx, change?: Record<string, string>): Promise<SmallTelegramWorld | null> {
  const url = pageOf(config);
  if (url === null) return null;
  try {
    const told = change ? { method: 'POST', body: JSON.stringify(change) } : {};
    const response = await fetch(url, { ...told, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    return World.parse(await response.json());
  } catch {
    return null;
  }
}
