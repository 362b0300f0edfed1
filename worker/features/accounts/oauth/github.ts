import { z } from 'zod';
import type { Ctx } from '#platform/context.ts';
import { askForToken, askProvider, ProviderAway, withQuery } from '#platform/providers/sign-in.ts';
import type { OAuthProvider, Person } from './provider.ts';

const Token = z.object({ access_token: z.string(), token_type: z.string() });
const User = z.object({ id: z.int().positive(), login: z.string(), name: z.string().nullish() });
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/** Identifies a person by the account number: an account name can change owners at GitHub. */
async function read<S extends z.ZodType>(ctx: Ctx, path: string, token: string, shape: S): Promise<z.infer<S>> {
  const headers = {
    Accept: 'application/vnd.github+json',
    Authorization: `Bearer ${token}`,
    'User-Agent': 'svc',
    'X-GitHub-Api-Version': '2022-11-28',
  };
  const answer = shape.safeParse(await askProvider(ctx, `${ctx.config.GITHUB_API_URL.replace(/\/$/, '')}${path}`, { headers }));
  if (!answer.success) throw new ProviderAway(`GitHub answered something else to ${path}`);
  return answer.data;
}

const loginUrl = ({ config }: Ctx, path: string): string => `${config.GITHUB_URL.replace(/\/$/, '')}/login/oauth/${path}`;

export const github: OAuthProvider = {
  name: 'github',
  title: 'GitHub',

  listMissing: (config) => (['GITHUB_CLIENT_ID', 'GITHUB_CLIENT_SECRET'] as const).filter((name) => config[name] === undefined),

  authorizationUrl: async (ctx, { redirectUri, state, challenge }) =>
    withQuery(loginUrl(ctx, 'authorize'), {
      client_id: ctx.config.GITHUB_CLIENT_ID!,
      redirect_uri: redirectUri,
      scope: 'read:user user:email',
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }),

  identify: async (ctx, code, { redirectUri, verifier }): Promise<Person> => {
    // GitHub refuses with 200 and an `error` field, so there is no token.
    const token = Token.safeParse(
      await askForToken(ctx, loginUrl(ctx, 'access_token'), {
        client_id: ctx.config.GITHUB_CLIENT_ID!,
        client_secret: ctx.config.GITHUB_CLIENT_SECRET!,
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      }),
    );
    if (!token.success || token.data.token_type.toLowerCase() !== 'bearer') throw new ProviderAway('GitHub gave no token for this code');
    const { access_token } = token.data;
    const [user, emails] = await Promise.all([read(ctx, '/user', access_token, User), read(ctx, '/user/emails', access_token, Emails)]);
    const primary = emails.find((one) => one.primary);
    return {
      subject: String(user.id),
      email: primary?.email ?? null,
      isEmailVerified: primary?.verified ?? false,
      isEmailBelieved: primary?.verified ?? false,
      displayName: user.name ?? user.login,
    };
  },
};
