/**
 * Telegram connector: a bot that reports who pressed start, and which chat an administrator claims. Runs as Telegram's webhook on a Worker.
 * `node local/connectors/telegram.ts` polls for updates without a public address.
 * @module
 */

import { CLAIM_CODE, type ConnectorEnv, type Reported, report, SESSION_ID } from './report.ts';

export interface TelegramEnv extends ConnectorEnv {
  TELEGRAM_BOT_TOKEN: string;
  /** Worker only: secret token that was given to setWebhook and that Telegram sends with each update. */
  WEBHOOK_SECRET?: string;
  TELEGRAM_API_URL?: string;
}

interface Message {
  text?: string;
  from?: { id: number; username?: string };
  chat: { id: number; type: 'private' | 'group' | 'supergroup' | 'channel' };
}
interface Update {
  update_id: number;
  message?: Message;
  channel_post?: Message;
}

async function callBot(env: TelegramEnv, method: string, body: object): Promise<unknown> {
  const base = (env.TELEGRAM_API_URL ?? 'https://api.telegram.org').replace(/\/$/, '');
  const response = await fetch(`${base}/bot${env.TELEGRAM_BOT_TOKEN}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  return ((await response.json().catch(() => ({}))) as { result?: unknown }).result;
}

/** Only administrators post in a channel. In other chats Telegram is asked. */
async function isAdministrator(env: TelegramEnv, { chat, from }: Message): Promise<boolean> {
  if (chat.type === 'channel') return true;
  if (!from) return false;
  const member = (await callBot(env, 'getChatMember', { chat_id: chat.id, user_id: from.id })) as { status?: string } | undefined;
  return member?.status === 'creator' || member?.status === 'administrator';
}

async function identify(env: TelegramEnv, { from, text = '' }: Message): Promise<Reported | null> {
  const session = /^\/start (\S+)$/.exec(text)?.[1];
  if (!from || !session || !SESSION_ID.test(session)) return null;
  return report(env, 'telegram', 'identity', { identity_session_id: session, provider_user_id: String(from.id), username: from.username });
}

async function claimChat(env: TelegramEnv, message: Message): Promise<Reported | null> {
  const code = CLAIM_CODE.exec(message.text ?? '')?.[0];
  if (!code || message.chat.type === 'private') return null;
  // Basic groups have no bans and change their id when upgraded to a supergroup.
  if (message.chat.type === 'group')
    return { ok: false, detail: 'Make this group a supergroup first (show its history to new members), then post the code again.' };
  if (!(await isAdministrator(env, message))) return { ok: false, detail: 'Only an administrator of this chat can claim it.' };
  return report(env, 'telegram', 'claims', { code, chat_id: String(message.chat.id) });
}

export async function handleUpdate(env: TelegramEnv, update: Update): Promise<void> {
  const message = update.message ?? update.channel_post;
  if (!message) return;
  const [reported, done] =
    message.chat.type === 'private'
      ? [await identify(env, message), 'Thank you. Go back to the page where you are buying.']
      : [await claimChat(env, message), 'This chat is claimed. Products can be sold with access to it now.'];
  if (reported) await callBot(env, 'sendMessage', { chat_id: message.chat.id, text: reported.ok ? done : reported.detail });
}

export default {
  async fetch(request: Request, env: TelegramEnv): Promise<Response> {
    const shown = request.headers.get('X-Telegram-Bot-Api-Secret-Token');
    if (request.method !== 'POST' || !env.WEBHOOK_SECRET || shown !== env.WEBHOOK_SECRET) return new Response(null, { status: 401 });
    await handleUpdate(env, (await request.json()) as Update);
    return new Response();
  },
};

async function poll(env: TelegramEnv): Promise<void> {
  const asked = { timeout: 50, allowed_updates: ['message', 'channel_post'] };
  for (let offset = 0; ; ) {
    const updates = (await callBot(env, 'getUpdates', { ...asked, offset }).catch(() => [])) as Update[] | undefined;
    for (const update of updates ?? []) {
      await handleUpdate(env, update).catch((error: unknown) => console.error(error instanceof Error ? error.message : 'failed'));
      offset = update.update_id + 1;
    }
    if (!updates) await new Promise((resolve) => setTimeout(resolve, 5000));
  }
}

if (globalThis.process?.argv?.[1]?.endsWith('connectors/telegram.ts')) await poll(process.env as unknown as TelegramEnv);
