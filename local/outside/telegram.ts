import { randomBytes } from 'node:crypto';
import { type Asked, type Said, say } from './http.ts';
import { bodyOf, SmallPlatform } from './messaging.ts';

interface Invite {
  link: string;
  limit: number;
  expiresAt: number | null;
  isRevoked: boolean;
  used: number;
}

/** `uninviting`: without the right to invite. `unbanning`: without the right to ban. */
type BotStatus = 'administrator' | 'kicked' | 'powerless' | 'uninviting' | 'unbanning';

/** Simulated Telegram of one bot. Chats exist once they are named, with the bot as administrator. */
interface Telegram {
  chats: Map<string, { members: Set<string>; banned: Set<string>; invites: Invite[]; bot: BotStatus }>;
  deleted: Set<string>;
  upgraded: Map<string, string>;
  /** Users who never pressed start or have blocked the bot. */
  strangers: Set<string>;
  blockers: Set<string>;
  messages: { to: string; text: string }[];
}

const refuse = (status: number, description: string, parameters?: object): Said =>
  say(status, { ok: false, error_code: status, description, ...(parameters ? { parameters } : {}) });
const done = (result: unknown): Said => say(200, { ok: true, result });

/** True for basic groups, which have no bans. Ids of supergroups and channels begin with -100. */
const isBasic = (id: string): boolean => !id.startsWith('-100') && Number(id) <= -1_000_000;

/** Simulated Telegram: the Bot API methods of membership delivery with its error texts. (core.telegram.org/bots/api) */
export class SmallTelegram extends SmallPlatform<Telegram> {
  protected fresh(): Telegram {
    return { chats: new Map(), deleted: new Set(), upgraded: new Map(), strangers: new Set(), blockers: new Set(), messages: [] };
  }

  protected busy(seconds: number): Said {
    return refuse(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
  }

  protected broken(): Said {
    return say(502, 'Bad Gateway');
  }

  #chatOf({ chats }: Telegram, id: string) {
    const known = chats.get(id) ?? { members: new Set(), banned: new Set(), invites: [], bot: 'administrator' as const };
    chats.set(id, known);
    return known;
  }

  protected happen(state: Telegram, { event, chat = '', user = '', link = '', to = '' }: Record<string, string>): void {
    if (event === 'never_started') state.strangers.add(user);
    if (event === 'starts') state.strangers.delete(user);
    if (event === 'blocks') state.blockers.add(user);
    if (event === 'bot_kicked') this.#chatOf(state, chat).bot = 'kicked';
    if (event === 'bot_demoted') this.#chatOf(state, chat).bot = 'powerless';
    if (event === 'bot_back') this.#chatOf(state, chat).bot = 'administrator';
    if (event === 'bot_uninviting') this.#chatOf(state, chat).bot = 'uninviting';
    if (event === 'bot_unbanning') this.#chatOf(state, chat).bot = 'unbanning';
    if (event === 'bans') this.#chatOf(state, chat).banned.add(user);
    if (event === 'deleted') state.deleted.add(chat);
    if (event === 'upgrades') this.#upgrade(state, chat, to);
    if (event === 'uses') this.#use(state, link, user);
  }

  #upgrade(state: Telegram, chat: string, to: string): void {
    state.chats.set(to, this.#chatOf(state, chat));
    state.chats.delete(chat);
    state.upgraded.set(chat, to);
  }

  #use(state: Telegram, link: string, user: string): void {
    for (const chat of state.chats.values()) {
      const invite = chat.invites.find((one) => one.link === link);
      const isOpen = invite && !invite.isRevoked && invite.used < invite.limit && (invite.expiresAt ?? Infinity) > Date.now();
      if (!isOpen || chat.banned.has(user)) continue;
      invite.used++;
      chat.members.add(user);
    }
  }

  protected show({ chats, messages }: Telegram): unknown {
    const shown = [...chats].map(([id, { members, banned, invites, bot }]) => ({
      id,
      members: [...members],
      banned: [...banned],
      invites,
      bot,
    }));
    return { chats: shown, messages };
  }

  api(asked: Asked): Promise<Said> | Said {
    const [, , bot = '', method = ''] = asked.url.pathname.split('/');
    const token = bot.replace(/^bot/, '');
    if (!/^\d+:[\w-]+$/.test(token) || token.includes('wrong')) return refuse(401, 'Unauthorized');
    const body = bodyOf(asked);
    return this.take(token, method, body, (state) => this.#answer(state, method, body));
  }

  #answer(state: Telegram, method: string, body: Record<string, unknown>): Said {
    const id = String(body.chat_id);
    if (method === 'getMe') return done({ id: 1, is_bot: true, first_name: 'Svc', username: 'svc_test_bot' });
    if (method === 'sendMessage') return this.#send(state, id, String(body.text));
    if (id === '-404' || state.deleted.has(id)) return refuse(400, 'Bad Request: chat not found');
    const migrate_to_chat_id = state.upgraded.get(id);
    if (migrate_to_chat_id !== undefined)
      return refuse(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id: Number(migrate_to_chat_id) });
    const chat = this.#chatOf(state, id);
    if (chat.bot === 'kicked') return refuse(403, 'Forbidden: bot was kicked from the supergroup chat');
    const isAboutLink = method.endsWith('InviteLink');
    if (chat.bot === 'powerless' || (chat.bot === 'uninviting' && isAboutLink))
      return refuse(400, 'Bad Request: not enough rights to manage chat invite link');
    if (chat.bot === 'unbanning' && !isAboutLink) return refuse(400, 'Bad Request: not enough rights to restrict/unrestrict chat member');
    const user = String(body.user_id);
    switch (method) {
      case 'createChatInviteLink': {
        const invite = {
          link: `https://t.me/+${randomBytes(12).toString('base64url')}`,
          limit: Number(body.member_limit ?? Infinity),
          expiresAt: body.expire_date === undefined ? null : Number(body.expire_date) * 1000,
          isRevoked: false,
          used: 0,
        };
        chat.invites.push(invite);
        return done({ invite_link: invite.link, creates_join_request: false, is_primary: false, is_revoked: false });
      }
      case 'revokeChatInviteLink': {
        const invite = chat.invites.find(({ link }) => link === body.invite_link);
        if (!invite) return refuse(400, 'Bad Request: INVITE_HASH_INVALID');
        invite.isRevoked = true;
        return done({ invite_link: invite.link, is_revoked: true });
      }
      case 'banChatMember':
        if (!Number.isInteger(body.user_id)) return refuse(400, 'Bad Request: invalid user_id specified');
        chat.members.delete(user);
        if (!isBasic(id)) chat.banned.add(user);
        return done(true);
      case 'unbanChatMember':
        if (isBasic(id)) return refuse(400, 'Bad Request: method is available for supergroup and channel chats only');
        chat.banned.delete(user);
        return done(true);
      default:
        return refuse(404, 'Not Found');
    }
  }

  #send(state: Telegram, to: string, text: string): Said {
    if (state.strangers.has(to)) return refuse(403, "Forbidden: bot can't initiate conversation with a user");
    if (state.blockers.has(to)) return refuse(403, 'Forbidden: bot was blocked by the user');
    state.messages.push({ to, text });
    return done({
      message_id: state.messages.length,
      date: Math.floor(Date.now() / 1000),
      chat: { id: Number(to), type: 'private' },
      text,
    });
  }
}
