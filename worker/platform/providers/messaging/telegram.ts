import { z } from 'zod';
import { DAY, SECOND } from '#core/time.ts';
import type { PlatformAnswer } from '#rules/members/placement.ts';
import {
  callPlatform,
  describeFailure,
  type MessagingPlatform,
  type PlatformDesk,
  type PlatformResponse,
  platformFailure,
} from './platform.ts';

/** Telegram Bot API (core.telegram.org/bots/api): the bot sends a personal invitation to a chat, revoked with access. */
const Said = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  description: z.string().optional(),
  parameters: z.object({ retry_after: z.number().positive().optional(), migrate_to_chat_id: z.int().optional() }).optional(),
});
const Invite = z.object({ invite_link: z.url() });
const Bot = z.object({ username: z.string() });

/** Validity of an unused invitation beyond the end of access, because a renewal extends access. The link is revoked with access. */
const INVITE_SPARE_MS = 365 * DAY;

type Called =
  | { ok: true; result: unknown }
  | {
      ok: false;
      description: string;
      /** New id of a migrated chat, null if unchanged. */
      movedTo: string | null;
      answer: Exclude<PlatformAnswer, { kind: 'done' | 'absent' }>;
    };

/** Repeats the call with the new id if a group became a supergroup. */
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
    answer: platformFailure(desk, strange(response), failureOf(description, retry_after, token)),
  };
}

/** A 200 with an invalid body is a fault of the platform. */
const strange = (response: PlatformResponse): PlatformResponse => (response.status === 200 ? { ...response, status: 502 } : response);

const failureOf = (said: string, retryAfterSeconds: number | undefined, secret: string) => ({
  said,
  retryAfterSeconds: retryAfterSeconds ?? null,
  secret,
});

/** The person is not in the chat or does not exist, so nothing is left to remove. */
const IS_NO_MEMBER = /participant|user[_ ]not[_ ]found|member not found/i;
/** The chat is gone, and all access with it. A bot that was only removed from a chat is an error for the merchant. */
const IS_NO_CHAT = /chat not found|chat was deleted|deactivated/i;
/** The invitation is gone or from another bot, so nothing is left to revoke. */
const IS_NO_INVITE = /INVITE_HASH_(INVALID|EXPIRED)/;
/** A basic group has no bans: a removed member may rejoin, and there is no ban to lift. */
const IS_NO_BAN = /method is available for supergroup and channel chats only/;

const isRefusal = (called: Called, ...why: RegExp[]): boolean =>
  !called.ok && called.answer.kind === 'refused' && why.some((pattern) => pattern.test(called.description));

export const telegram: MessagingPlatform = {
  title: 'Telegram',
  targetSchema: z.object({
    provider: z.literal('telegram'),
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
  async give(desk, { target, providerUserId, productName, inviteUrl, endsAt, storeInvite }) {
    let link = inviteUrl;
    if (link === null) {
      const expires = endsAt === null ? {} : { expire_date: Math.ceil((endsAt + INVITE_SPARE_MS) / SECOND) };
      const made = await callInChat(desk, 'createChatInviteLink', { chat_id: target.chat_id!, member_limit: 1, ...expires });
      if (!made.ok) return made.answer;
      const invite = Invite.safeParse(made.result);
      if (!invite.success) return { kind: 'later', reason: 'no invitation in the answer' };
      link = invite.data.invite_link;
      await storeInvite(link);
    }
    const message = { chat_id: providerUserId, text: `${productName}\n${link}`, link_preview_options: { is_disabled: true } };
    const sent = await call(desk, 'sendMessage', message);
    return sent.ok ? { kind: 'done' } : sent.answer;
  },
  async revokeInvite(desk, { target, inviteUrl }) {
    const revoked = await callInChat(desk, 'revokeChatInviteLink', { chat_id: target.chat_id!, invite_link: inviteUrl });
    return revoked.ok || isRefusal(revoked, IS_NO_INVITE, IS_NO_CHAT) ? { kind: 'done' } : revoked.answer;
  },
  async removeMember(desk, { target, providerUserId, staysMember }) {
    const member = { chat_id: target.chat_id!, user_id: Number(providerUserId) };
    if (!staysMember) {
      const banned = await callInChat(desk, 'banChatMember', member);
      if (!banned.ok && !isRefusal(banned, IS_NO_MEMBER, IS_NO_CHAT)) return banned.answer;
    }
    // Lifts the ban that removed the member, so that they may buy again. Also for members who stay, because an earlier attempt may have
    // banned them.
    const unbanned = await callInChat(desk, 'unbanChatMember', { ...member, only_if_banned: true });
    return unbanned.ok || isRefusal(unbanned, IS_NO_MEMBER, IS_NO_CHAT, IS_NO_BAN) ? { kind: 'done' } : unbanned.answer;
  },
  async check(desk) {
    const me = await call(desk, 'getMe', {});
    if (!me.ok) return { ok: false, detail: describeFailure(me.answer), botUsername: null };
    const bot = Bot.safeParse(me.result);
    return { ok: true, detail: 'The bot answers.', botUsername: bot.data?.username ?? null };
  },
};
