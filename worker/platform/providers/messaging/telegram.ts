import { z } from 'zod';
import { DAY, SECOND } from '#core/time.ts';
import type { PlatformAnswer } from '#rules/members/placement.ts';
import {
  callPlatform,
  type MessagingPlatform,
  type PlatformDesk,
  type PlatformResponse,
  platformFailure,
  wordsOfFailure,
} from './platform.ts';

/** Telegram's Bot API: a personal invitation to a chat, sent by the bot; gone with access. (core.telegram.org/bots/api) */
const Said = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  description: z.string().optional(),
  parameters: z.object({ retry_after: z.number().positive().optional(), migrate_to_chat_id: z.int().optional() }).optional(),
});
const Invite = z.object({ invite_link: z.url() });
const Bot = z.object({ username: z.string() });

/** So long after the end an unused invitation still stands: a renewal moves the end, and the link is taken back with access. */
const INVITE_SPARE_MS = 365 * DAY;

type Called =
  | { ok: true; result: unknown }
  | {
      ok: false;
      description: string;
      /** The id that the chat has by now, where it has another. */
      movedTo: string | null;
      answer: Exclude<PlatformAnswer, { kind: 'done' | 'absent' }>;
    };

/** A group that became a supergroup has another id since: the call is made again with that. */
async function callInChat(desk: PlatformDesk, method: string, body: { chat_id: string } & Record<string, unknown>): Promise<Called> {
  const called = await call(desk, method, body);
  return called.ok || called.movedTo === null ? called : call(desk, method, { ...body, chat_id: called.movedTo });
}

async function call(desk: PlatformDesk, method: string, body: object): Promise<Called> {
  const { TELEGRAM_BOT_TOKEN: token = '', TELEGRAM_API_URL: base } = desk.config;
  const url = `${base.replace(/\/$/, '')}/bot${token}/${method}`;
  const response = await callPlatform(desk, { method: 'POST', url, headers: {}, body });
  const said = Said.safeParse(response.body);
  if (response.status === 200 && said.success && said.data.ok) return { ok: true, result: said.data.result };
  const { description = '', parameters = {} } = said.data ?? {};
  const { retry_after, migrate_to_chat_id: movedTo } = parameters;
  return {
    ok: false,
    description,
    movedTo: movedTo === undefined ? null : String(movedTo),
    answer: platformFailure(desk, strange(response), wordsOf(description, retry_after, token)),
  };
}

/** A 200 that is no answer of theirs is a fault of theirs. */
const strange = (response: PlatformResponse): PlatformResponse => (response.status === 200 ? { ...response, status: 502 } : response);

const wordsOf = (said: string, retryAfterSeconds: number | undefined, secret: string) => ({
  said,
  retryAfterSeconds: retryAfterSeconds ?? null,
  secret,
});

/** The person is not in the chat, or there is no such person: nothing to take away. */
const IS_NO_MEMBER = /participant|user[_ ]not[_ ]found|member not found/i;
/** The chat is gone, and every place in it. A bot that was only thrown out is another matter: its merchant is told. */
const IS_NO_CHAT = /chat not found|chat was deleted|deactivated/i;
/** The invitation is gone, or of another bot: nothing to take back. */
const IS_NO_INVITE = /INVITE_HASH_(INVALID|EXPIRED)/;
/** A basic group has no bans: a member who was removed may come back, and there is no ban to end. */
const IS_NO_BAN = /method is available for supergroup and channel chats only/;

const isRefusal = (called: Called, ...why: RegExp[]): boolean =>
  !called.ok && called.answer.kind === 'refused' && why.some((pattern) => pattern.test(called.description));

export const telegram: MessagingPlatform = {
  title: 'Telegram',
  place: z.object({
    provider: z.literal('telegram').describe('Provider name.'),
    chat_id: z
      .string()
      .regex(/^-?\d{1,20}$/, 'Expected a chat id, as text')
      .describe('Telegram chat id, as text.'),
  }),
  identity: {
    variables: ['TELEGRAM_BOT_USERNAME', 'TELEGRAM_CONNECTOR_SECRETS'],
    link: ({ TELEGRAM_BOT_USERNAME }, id) => `https://t.me/${TELEGRAM_BOT_USERNAME}?start=${id}`,
    secrets: ({ TELEGRAM_CONNECTOR_SECRETS }) => TELEGRAM_CONNECTOR_SECRETS,
  },
  needs: ['TELEGRAM_BOT_TOKEN'],
  queue: 'TELEGRAM',
  async give(desk, { place, providerUserId, productName, inviteUrl, endsAt, keepInvite }) {
    let link = inviteUrl;
    if (link === null) {
      const expires = endsAt === null ? {} : { expire_date: Math.ceil((endsAt + INVITE_SPARE_MS) / SECOND) };
      const made = await callInChat(desk, 'createChatInviteLink', { chat_id: place.chat_id!, member_limit: 1, ...expires });
      if (!made.ok) return made.answer;
      const invite = Invite.safeParse(made.result);
      if (!invite.success) return { kind: 'later', reason: 'no invitation in the answer' };
      link = invite.data.invite_link;
      await keepInvite(link);
    }
    const message = { chat_id: providerUserId, text: `${productName}\n${link}`, link_preview_options: { is_disabled: true } };
    const sent = await call(desk, 'sendMessage', message);
    return sent.ok ? { kind: 'done' } : sent.answer;
  },
  async revokeInvite(desk, { place, inviteUrl }) {
    const revoked = await callInChat(desk, 'revokeChatInviteLink', { chat_id: place.chat_id!, invite_link: inviteUrl });
    return revoked.ok || isRefusal(revoked, IS_NO_INVITE, IS_NO_CHAT) ? { kind: 'done' } : revoked.answer;
  },
  async removeMember(desk, { place, providerUserId, staysMember }) {
    const member = { chat_id: place.chat_id!, user_id: Number(providerUserId) };
    if (!staysMember) {
      const banned = await callInChat(desk, 'banChatMember', member);
      if (!banned.ok && !isRefusal(banned, IS_NO_MEMBER, IS_NO_CHAT)) return banned.answer;
    }
    // Banned so that they leave, and then not banned, so that they may buy again. Also for who stays: an earlier attempt may have banned them.
    const unbanned = await callInChat(desk, 'unbanChatMember', { ...member, only_if_banned: true });
    return unbanned.ok || isRefusal(unbanned, IS_NO_MEMBER, IS_NO_CHAT, IS_NO_BAN) ? { kind: 'done' } : unbanned.answer;
  },
  async check(desk) {
    const me = await call(desk, 'getMe', {});
    if (!me.ok) return { ok: false, detail: wordsOfFailure(me.answer), botUsername: null };
    const bot = Bot.safeParse(me.result);
    return { ok: true, detail: 'The bot answers.', botUsername: bot.data?.username ?? null };
  },
};
