import { z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import { given, orNull, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { FACTORS, SESSION_METHODS, type Session, USER_AGENT_MAX } from '#rules/access/sessions.ts';
import type { SignIn } from '#rules/admission.ts';
import { endOwnSession, endOwnSessions } from '../entries/ended-sessions.ts';
import { listSessions } from './sessions.ts';

const SessionBody = z
  .object({
    session_id: z.uuid(),
    current: z.boolean().describe('True for the session of the calling token.'),
    method: z.enum(SESSION_METHODS),
    factor: orNull(z.enum(FACTORS)),
    ip: z.string(),
    country: z.string().optional().describe('Country of that address, as ISO 3166-1 alpha-2.'),
    user_agent: z.string().max(USER_AGENT_MAX).describe('Browser or program that signed in, as it names itself.'),
    account_id: z.uuid(),
    created_at: Timestamp,
    last_seen_at: Timestamp.describe('Time of the last use, exact within five minutes.'),
    expires_at: Timestamp,
  })
  .openapi('Session');

const toSessionResource = (session: Session, signIn: SignIn | null) => ({
  session_id: session.sessionId,
  current: session.sessionId === signIn?.sessionId,
  method: session.method,
  factor: session.factor,
  ip: session.ip,
  ...given('country', session.country),
  user_agent: session.userAgent,
  account_id: session.accountId,
  created_at: iso(session.createdAt),
  last_seen_at: iso(session.lastSeenAt),
  expires_at: iso(session.expiresAt),
});

export const sessionRoutes = routes('Account')
  .self({
    path: 'GET /account/sessions',
    id: 'listSessions',
    sdk: 'account.listSessions',
    summary: 'List sessions',
    description: 'Lists your open sessions, newest use first. A sign-in beyond 50 sessions ends the one unused longest.',
    returns: z.object({ items: z.array(SessionBody) }).openapi('Sessions'),
    answer: async ({ ctx, actor }) => {
      const sessions = await listSessions(ctx, actor.accountId);
      return { items: sessions.map((session) => toSessionResource(session, actor.signIn)) };
    },
  })
  .self({
    path: 'DELETE /account/sessions/{session_id}',
    id: 'endSession',
    sdk: 'account.endSession',
    summary: 'End a session',
    description: 'Ends one of your sessions, from the next request on. A repeated call changes nothing.',
    returns: { 204: { description: 'Ended' } },
    codes: ['not_found'],
    leased: ({ ctx, actor, params }) => endOwnSession(ctx, actor, params.session_id),
    audit: ['session.ended'],
    present: () => undefined,
  })
  .self({
    path: 'DELETE /account/sessions',
    id: 'endSessions',
    sdk: 'account.endSessions',
    summary: 'End all sessions',
    description: 'Ends all your sessions, from the next request on.',
    query: z.object({
      keep_current: z.enum(['true', 'false']).default('true').describe('Whether the session of the calling token remains.'),
    }),
    returns: z.object({ ended: z.int() }).openapi('EndedSessions'),
    leased: ({ ctx, actor, query }) => {
      const except = query.keep_current === 'true' ? (actor.signIn?.sessionId ?? null) : null;
      return endOwnSessions(ctx, actor, except);
    },
    audit: ['session.ended'],
    present: (ended) => ({ ended }),
  });
