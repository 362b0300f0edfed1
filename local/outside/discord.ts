import { randomBytes } from 'node:crypto';
import { type Asked, type Said, say } from './http.ts';
import { bodyOf, SmallPlatform } from './messaging.ts';

/** Simulated Discord of one bot. Guilds and roles exist once they are named. */
interface Discord {
  guilds: Map<string, { members: Map<string, Set<string>>; isPowerless: boolean; isGone: boolean }>;
  channels: Map<string, string>;
  uninviting: Set<string>;
  invites: { code: string; channel: string; isDeleted: boolean }[];
  /** Users who refuse messages from strangers. */
  closed: Set<string>;
  messages: { to: string; text: string }[];
}

const refuse = (status: number, code: number, message: string): Said => say(status, { code, message });

/** Simulated Discord: the REST calls of membership delivery with its error codes. (discord.com/developers/docs) */
export class SmallDiscord extends SmallPlatform<Discord> {
  protected fresh(): Discord {
    return { guilds: new Map(), channels: new Map(), uninviting: new Set(), invites: [], closed: new Set(), messages: [] };
  }

  protected busy(seconds: number): Said {
    return say(429, { message: 'You are being rate limited.', retry_after: seconds, global: false });
  }

  protected broken(): Said {
    return say(503, { message: 'upstream connect error', code: 0 });
  }

  #guildOf({ guilds }: Discord, id: string) {
    const known = guilds.get(id) ?? { members: new Map(), isPowerless: false, isGone: false };
    guilds.set(id, known);
    return known;
  }

  protected happen(state: Discord, { event, guild = '', user = '', channel = '' }: Record<string, string>): void {
    if (event === 'joins') this.#guildOf(state, guild).members.set(user, new Set());
    if (event === 'leaves') this.#guildOf(state, guild).members.delete(user);
    if (event === 'bot_powerless') this.#guildOf(state, guild).isPowerless = true;
    if (event === 'bot_kicked') this.#guildOf(state, guild).isGone = true;
    if (event === 'has_channel') state.channels.set(channel, guild);
    if (event === 'bot_uninviting') state.uninviting.add(guild);
    if (event === 'bot_inviting') state.uninviting.delete(guild);
    if (event === 'closes_messages') state.closed.add(user);
  }

  protected show({ guilds, invites, messages }: Discord): unknown {
    const shown = [...guilds].map(([id, { members }]) => ({
      id,
      members: [...members].map(([user, roles]) => ({ user, roles: [...roles] })),
    }));
    return { guilds: shown, invites, messages };
  }

  api(asked: Asked): Promise<Said> | Said {
    const path = asked.url.pathname.replace(/^\/discord/, '');
    const token = /^Bot (\S+)$/.exec(asked.headers.authorization ?? '')?.[1];
    if (token === undefined || token.includes('wrong')) return refuse(401, 0, '401: Unauthorized');
    const body = bodyOf(asked);
    return this.take(token, `${asked.method} ${path}`, body, (state) => this.#answer(state, asked.method, path.split('/').slice(1), body));
  }

  #answer(state: Discord, method: string, [kind = '', id = '', ...rest]: string[], body: Record<string, unknown>): Said {
    if (kind === 'users' && rest.length === 0) return say(200, { id: '1', username: 'svc-test-bot', bot: true });
    if (kind === 'users') return say(200, { id: `9${String(body.recipient_id)}`, type: 1 });
    if (kind === 'guilds') return this.#role(state, method, id, rest, body);
    const guildId = state.channels.get(id);
    if (kind === 'channels' && rest[0] !== 'messages' && guildId === undefined) return refuse(404, 10_003, 'Unknown Channel');
    if (kind === 'channels' && rest.length === 0) return say(200, { id, type: 0, guild_id: guildId });
    if (kind === 'channels' && rest[0] === 'invites') {
      const invite = { code: randomBytes(6).toString('base64url'), channel: id, isDeleted: false };
      state.invites.push(invite);
      return say(200, { type: 0, code: invite.code, max_age: body.max_age, max_uses: body.max_uses });
    }
    if (kind === 'channels') {
      const to = id.slice(1);
      if (state.closed.has(to)) return refuse(403, 50_007, 'Cannot send messages to this user');
      state.messages.push({ to, text: String(body.content) });
      return say(200, { id: String(state.messages.length), content: body.content });
    }
    const invite = state.invites.find(({ code, isDeleted }) => code === id && !isDeleted);
    if (kind !== 'invites' || !invite) return refuse(404, 10_006, 'Unknown Invite');
    if (state.uninviting.has(state.channels.get(invite.channel) ?? '')) return refuse(403, 50_013, 'Missing Permissions');
    invite.isDeleted = true;
    return say(200, { code: invite.code });
  }

  /** `PUT /guilds/<guild>/members/<user>`: authorized by the user's token, which contains the user id here. */
  #add(members: Map<string, Set<string>>, user: string, { access_token: token }: Record<string, unknown>): Said {
    if (token !== `token-of-${user}`) return refuse(403, 50_025, 'Invalid OAuth2 access token');
    if (members.has(user)) return say(204);
    members.set(user, new Set());
    return say(201, { user: { id: user }, roles: [] });
  }

  #role(state: Discord, method: string, guildId: string, rest: string[], body: Record<string, unknown>): Said {
    const [, user = '', , role = ''] = rest;
    const guild = this.#guildOf(state, guildId);
    if (guild.isGone) return refuse(404, 10_004, 'Unknown Guild');
    if (guild.isPowerless) return refuse(403, 50_013, 'Missing Permissions');
    if (method === 'PUT' && rest.length === 2) return this.#add(guild.members, user, body);
    const roles = guild.members.get(user);
    if (!roles) return refuse(404, 10_007, 'Unknown Member');
    if (method === 'PUT') roles.add(role);
    else roles.delete(role);
    return say(204);
  }
}
