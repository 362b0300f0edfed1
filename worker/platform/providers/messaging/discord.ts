import { z } from '@hono/zod-openapi';
import type { PlatformAnswer } from '#rules/members/placement.ts';
import type { DeliveryTarget } from '#rules/payment-terms.ts';
import { callPlatform, describeFailure, type MessagingPlatform, type PlatformDesk, platformFailure } from './platform.ts';

/**
 * Discord REST API (discord.com/developers/docs): grants a role in a guild. A buyer who is not a member is invited first and gets the role
 * after joining.
 */
const Refusal = z.object({ code: z.number().optional(), message: z.string().optional(), retry_after: z.number().positive().optional() });
const Invite = z.object({ code: z.string().regex(/^[\w-]{2,64}$/) });
const Channel = z.object({ id: z.string(), guild_id: z.string().optional() });
const Bot = z.object({ username: z.string() });
const Snowflake = z.string().regex(/^\d{5,25}$/, 'Expected a Discord id, as text');

/** JSON error codes (developers/topics/opcodes-and-status-codes). */
const UNKNOWN_CHANNEL = 10_003;
const UNKNOWN_GUILD = 10_004;
const UNKNOWN_INVITE = 10_006;
const UNKNOWN_MEMBER = 10_007;
const UNKNOWN_ROLE = 10_011;
const UNKNOWN_USER = 10_013;

const INVITE_BASE = 'https://discord.gg/';

type Called =
  | { ok: true; body: unknown }
  | { ok: false; code: number | null; answer: Exclude<PlatformAnswer, { kind: 'done' | 'absent' }> };

async function call(desk: PlatformDesk, method: string, path: string, body?: object): Promise<Called> {
  const { DISCORD_BOT_TOKEN: token = '', DISCORD_API_URL: base } = desk.config;
  // Discord requires a user agent of this form.
  const headers = { authorization: `Bot ${token}`, 'user-agent': 'DiscordBot (https://discord.com, 1)' };
  const request = { method, url: `${base.replace(/\/$/, '')}${path}`, headers, ...(body === undefined ? {} : { body }) };
  const response = await callPlatform(desk, request);
  if (response.status >= 200 && response.status < 300) return { ok: true, body: response.body };
  const said = Refusal.safeParse(response.body).data;
  const failure = { said: said?.message ?? '', retryAfterSeconds: said?.retry_after ?? null, secret: token };
  return { ok: false, code: said?.code ?? null, answer: platformFailure(desk, response, failure) };
}

const isAbsence = (called: Called, ...codes: number[]): boolean =>
  !called.ok && called.answer.kind === 'refused' && called.code !== null && codes.includes(called.code);

/** Best effort, because many people accept no messages from strangers. The purchase page shows the invitation too. */
async function sendDirectMessage(desk: PlatformDesk, providerUserId: string, content: string): Promise<void> {
  const opened = await call(desk, 'POST', '/users/@me/channels', { recipient_id: providerUserId });
  const channel = opened.ok ? Channel.safeParse(opened.body).data : undefined;
  if (channel) await call(desk, 'POST', `/channels/${channel.id}/messages`, { content, allowed_mentions: { parse: [] } });
}

/**
 * Checks that the invitation channel belongs to the claimed guild. An invitation admits to the guild of its channel, so a foreign channel
 * would sell access to another guild.
 */
async function checkTarget(desk: PlatformDesk, { guild_id, channel_id }: DeliveryTarget): Promise<PlatformAnswer> {
  if (channel_id === undefined) return { kind: 'done' };
  const found = await call(desk, 'GET', `/channels/${channel_id}`);
  if (!found.ok) return found.answer;
  const channel = Channel.safeParse(found.body).data;
  if (channel?.id !== channel_id) return { kind: 'later', reason: 'no channel in the answer' };
  return channel.guild_id === guild_id ? { kind: 'done' } : { kind: 'refused', reason: 'channel_of_another_guild' };
}

export const discord: MessagingPlatform = {
  title: 'Discord',
  targetSchema: z.object({
    provider: z.literal('discord'),
    guild_id: Snowflake.describe('Discord guild id, as text.'),
    role_id: Snowflake.describe('Discord id of the role that members get.'),
    channel_id: Snowflake.optional().describe('Discord id of the channel for invitations of buyers outside the guild.'),
  }),
  identity: {
    variables: ['DISCORD_CLIENT_ID', 'DISCORD_REDIRECT_URI', 'DISCORD_CONNECTOR_SECRETS'],
    link: ({ DISCORD_CLIENT_ID, DISCORD_REDIRECT_URI }, id) => {
      const query = {
        response_type: 'code',
        client_id: DISCORD_CLIENT_ID!,
        scope: 'identify guilds.join',
        redirect_uri: DISCORD_REDIRECT_URI!,
        state: id,
      };
      return `https://discord.com/oauth2/authorize?${new URLSearchParams(query)}`;
    },
    secrets: ({ DISCORD_CONNECTOR_SECRETS }) => DISCORD_CONNECTOR_SECRETS,
  },
  takesGrants: true,
  needs: ['DISCORD_BOT_TOKEN'],
  queue: 'DISCORD',
  checkTarget,
  async give(desk, { target, providerUserId, productName, inviteUrl, grant, storeInvite }) {
    const member = `/guilds/${target.guild_id}/members/${providerUserId}`;
    const giveRole = () => call(desk, 'PUT', `${member}/roles/${target.role_id}`);
    const given = await giveRole();
    if (given.ok) return { kind: 'done' };
    if (!isAbsence(given, UNKNOWN_MEMBER, UNKNOWN_USER)) return given.answer;
    if (grant !== null) {
      const added = await call(desk, 'PUT', member, { access_token: grant });
      const role = added.ok ? await giveRole() : added;
      if (role.ok) return { kind: 'done' };
      // A refused OAuth grant is ignored, and the buyer is invited instead.
      if (added.ok || added.answer.kind !== 'refused') return role.answer;
    }
    if (inviteUrl !== null || target.channel_id === undefined) return { kind: 'absent' };
    const checked = await checkTarget(desk, target);
    if (checked.kind !== 'done') return checked;
    const invitation = { max_age: 0, max_uses: 1, unique: true };
    const made = await call(desk, 'POST', `/channels/${target.channel_id}/invites`, invitation);
    if (!made.ok) return made.answer;
    const invite = Invite.safeParse(made.body);
    if (!invite.success) return { kind: 'later', reason: 'no invitation in the answer' };
    const link = `${INVITE_BASE}${invite.data.code}`;
    await storeInvite(link);
    await sendDirectMessage(desk, providerUserId, `${productName}\n${link}`);
    return { kind: 'absent' };
  },
  async revokeInvite(desk, { inviteUrl }) {
    const deleted = await call(desk, 'DELETE', `/invites/${inviteUrl.slice(INVITE_BASE.length)}`);
    return deleted.ok || isAbsence(deleted, UNKNOWN_INVITE, UNKNOWN_CHANNEL, UNKNOWN_GUILD) ? { kind: 'done' } : deleted.answer;
  },
  async removeMember(desk, { target, providerUserId, staysMember }) {
    if (staysMember) return { kind: 'done' };
    const taken = await call(desk, 'DELETE', `/guilds/${target.guild_id}/members/${providerUserId}/roles/${target.role_id}`);
    const isGone = isAbsence(taken, UNKNOWN_MEMBER, UNKNOWN_ROLE, UNKNOWN_USER, UNKNOWN_GUILD);
    return taken.ok || isGone ? { kind: 'done' } : taken.answer;
  },
  async check(desk) {
    const me = await call(desk, 'GET', '/users/@me');
    if (!me.ok) return { ok: false, detail: describeFailure(me.answer), botUsername: null };
    return { ok: true, detail: 'The bot answers.', botUsername: Bot.safeParse(me.body).data?.username ?? null };
  },
};
