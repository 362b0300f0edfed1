import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import type { IdentitySessionId } from '#core/ids.ts';
import { completeIdentity } from '#features/checkout/buyer-identity/identity.ts';
import { completeClaim } from '#features/connected-chats/community.ts';
import type { Ctx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { skipStoring } from '#platform/db/once.ts';
import { type AppEnv, router } from '#platform/http/openapi.ts';
import { callSmallTelegram, type SmallTelegramWorld } from '#platform/providers/messaging/small-telegram.ts';
import { DevPage } from './dev-page.tsx';
import { demoWalletOf } from './document.tsx';

const SESSION_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const CLAIM_CODE = /\bclaim-[0-9A-Za-z]{16,48}\b/;
const FIRST_CHAT = '-1001234567890';

/** Local machine only: these forms decide who a buyer is. */
const localOnly = createMiddleware<AppEnv>(async (c, next) => {
  const { config } = c.var.ctx;
  if (demoWalletOf(config) === null || config.TELEGRAM_BOT_USERNAME === undefined) throw new ApiError('not_found', { hidesPath: true });
  await next();
});

type Fields = Record<string, string>;
/** Performs a form's deed in the role of a Telegram user or the connector. Returns a summary. */
type Act = (ctx: Ctx, fields: Fields) => Promise<string>;

const ACTS: Record<string, Act> = {
  post: async (ctx, { chat = '', text = '' }) => {
    const code = CLAIM_CODE.exec(text)?.[0];
    if (code === undefined) return 'There is no code in this text.';
    if (!/^-\d{1,25}$/.test(chat)) return 'A chat id is a number below zero.';
    await completeClaim(ctx, 'telegram', code, chat);
    return `The chat ${chat} is claimed.`;
  },
  start: async (ctx, { link = '', user = '', username = '' }) => {
    const id = SESSION_ID.exec(link)?.[0] as IdentitySessionId | undefined;
    if (id === undefined) return 'There is no identity session in this link.';
    if (!/^\d{1,20}$/.test(user)) return 'A user id is 1 to 20 digits.';
    const shard = homeOf(ctx, id);
    const proven = { identitySessionId: id, provider: 'telegram' as const, providerUserId: user, username: username || null };
    await completeIdentity(shard, proven, skipStoring);
    return `The service knows that ${user}${username ? ` (${username})` : ''} came. Go back to the page where they are buying.`;
  },
  join: async (ctx, { link = '', user = '' }) => {
    const after = await callSmallTelegram(ctx, { event: 'uses', link, user });
    const isIn = after?.chats.some(({ members, invites }) => members.includes(user) && invites.some((invite) => invite.link === link));
    return isIn ? `${user} is in the chat.` : 'This invitation opens nothing.';
  },
};

async function act(ctx: Ctx, { act: name = '', ...fields }: Fields): Promise<string> {
  try {
    return Object.hasOwn(ACTS, name) ? await ACTS[name]!(ctx, fields) : 'There is no such form.';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.options.problems?.[0]?.msg ?? error.message;
  }
}

const Chats = ({ world }: { world: SmallTelegramWorld }) => (
  <>
    {world.chats.length === 0 && <p>The bot is in no chat yet. A product that gives access to one, or a readiness test, names it.</p>}
    {world.chats.map(({ id, members, invites }) => (
      <section>
        <h2>Chat {id}</h2>
        <p>Members: {members.join(', ') || 'none'}</p>
        {invites.map(({ link, isRevoked, used }) => (
          <form method="post">
            <input type="hidden" name="act" value="join" />
            <input type="hidden" name="link" value={link} />
            <code>{link}</code> {isRevoked ? 'taken back' : used > 0 ? 'used' : 'open'}{' '}
            <label>
              User id <input name="user" value="4711" />
            </label>{' '}
            <button type="submit">Join</button>
          </form>
        ))}
      </section>
    ))}
    <h2>Messages of the bot</h2>
    {world.messages.length === 0 && <p>None was sent yet.</p>}
    {world.messages.toReversed().map(({ to, text }) => (
      <pre style="white-space:pre-wrap">
        To {to}: {text}
      </pre>
    ))}
  </>
);

const Page = ({ said, world }: { said: string | null; world: SmallTelegramWorld | null }) => (
  <DevPage title="Telegram of this machine">
    {said !== null && (
      <p role="status">
        <strong>{said}</strong>
      </p>
    )}
    <h2>Post a code in a chat, as its administrator</h2>
    <form method="post">
      <input type="hidden" name="act" value="post" />
      <label>
        Chat id <input name="chat" value={FIRST_CHAT} />
      </label>{' '}
      <label>
        Text <input name="text" placeholder="claim-…" required />
      </label>{' '}
      <button type="submit">Post</button>
    </form>
    <h2>Press start, as a buyer</h2>
    <form method="post">
      <input type="hidden" name="act" value="start" />
      <label>
        Link of the checkout page to the bot <input name="link" placeholder="https://t.me/…?start=…" required />
      </label>{' '}
      <label>
        User id <input name="user" value="4711" />
      </label>{' '}
      <label>
        Username <input name="username" value="grace" />
      </label>{' '}
      <button type="submit">Press start</button>
    </form>
    {world === null ? (
      <p>
        Chats with members come with <code>npm run dev -- --world</code>.
      </p>
    ) : (
      <Chats world={world} />
    )}
  </DevPage>
);

/** Simulates Telegram on a local machine without a bot: posting a code, pressing start, joining a chat. */
export const devTelegramRoutes = router();
devTelegramRoutes.on(['GET', 'POST'], '/dev/telegram', localOnly, async (c) => {
  const { ctx } = c.var;
  const origin = c.req.header('origin');
  // CSRF: refuses forms of other origins with 403 not_found.
  if (origin !== undefined && origin !== ctx.baseUrl) throw new ApiError('not_found', { status: 403 });
  // The cached request body is JSON, so the form is read from the raw request.
  const fields = c.req.method === 'POST' ? (Object.fromEntries(await c.req.raw.formData()) as Fields) : null;
  const said = fields ? await act(ctx, fields) : null;
  const page = <Page said={said} world={await callSmallTelegram(ctx)} />;
  return c.html(`<!doctype html>${page}`, 200, {
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
  });
});
