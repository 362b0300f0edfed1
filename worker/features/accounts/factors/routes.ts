import { z } from '@hono/zod-openapi';
import { notAMember } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import { created, Timestamp } from '#platform/http/openapi.ts';
import { callerOrigin } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { anyKnownPasskey, knownPasskey, readPasskeyId, withTicket } from '../auth/known-sign-ins.ts';
import { AuthResponse, toAuthResponse } from '../auth/routes.ts';
import { endPersonSessions } from '../auth/sessions.ts';
import { findRole } from '../members/acting.ts';
import { beginRegistration, registerPasskey, removePasskey, renamePasskey, toPasskeyResource } from '../passkeys/passkey.ts';
import {
  AuthenticationCeremony,
  FactorRequest,
  PasskeyBody,
  PasskeyLoginRequest,
  proofOf,
  RecoveryCodes,
  RegisterPasskeyRequest,
  RegistrationCeremony,
  RenamePasskeyRequest,
  StepUpRequest,
  TotpCode,
} from './bodies.ts';
import { renewRecoveryCodes } from './factors.ts';
import { beginPasskeySignIn, beginStepUp, redeemTicket, signInWithPasskey, stepUp } from './sign-in.ts';
import { listPasskeys } from './store.ts';
import { readTicket } from './ticket.ts';
import { beginTotp, confirmTotp, removeTotp } from './totp.ts';

const FRESH = 'Requires a recent sign-in, and a factor if you have one.';
const recoveryCodesOf = (codes: readonly string[] | null) => (codes === null ? {} : { recovery_codes: [...codes] });

export const factorRoutes = routes('Account')
  .self({
    path: 'POST /account/passkeys/options',
    id: 'beginPasskeyRegistration',
    sdk: 'account.beginPasskeyRegistration',
    idempotency: 'natural',
    summary: 'Begin to register a passkey',
    description: `Returns options for \`navigator.credentials.create\`, valid for five minutes. ${FRESH}`,
    key: 'none',
    returns: RegistrationCeremony,
    codes: ['state_conflict'],
    audit: false,
    answer: ({ scope, actor }) => beginRegistration(scope, actor),
  })
  .self({
    path: 'POST /account/passkeys',
    id: 'registerPasskey',
    sdk: 'account.registerPasskey',
    summary: 'Register a passkey',
    description: `Registers a passkey. With the first factor the response has recovery codes. \`meta.reason\` of a refusal: \`challenge\`, \`origin\`, \`rp_id\`, \`user_verification\` or \`format\`. ${FRESH}`,
    body: RegisterPasskeyRequest,
    returns: created(z.object({ passkey: PasskeyBody, recovery_codes: RecoveryCodes.optional() }).openapi('RegisteredPasskey')),
    codes: ['state_conflict'],
    once: ({ scope, actor, body: { ceremony_id: ceremonyId, response, name } }, storeAnswer) =>
      registerPasskey(scope, actor, { ceremonyId, response, name }, storeAnswer),
    audit: ['person.passkey_added'],
    present: ({ passkey, codes }) => ({ passkey: toPasskeyResource(passkey), ...recoveryCodesOf(codes) }),
    isSecret: true,
  })
  .self({
    path: 'GET /account/passkeys',
    id: 'listPasskeys',
    sdk: 'account.listPasskeys',
    summary: 'List passkeys',
    description: 'Lists your passkeys, the earliest first.',
    returns: z.object({ items: z.array(PasskeyBody) }).openapi('Passkeys'),
    answer: async ({ scope, actor }) => ({ items: (await listPasskeys(scope.db, actor.accountId)).map(toPasskeyResource) }),
  })
  .self({
    path: 'PATCH /account/passkeys/{passkey_id}',
    id: 'renamePasskey',
    sdk: 'account.renamePasskey',
    summary: 'Rename a passkey',
    description: 'Renames one of your passkeys.',
    body: RenamePasskeyRequest,
    returns: PasskeyBody,
    codes: ['not_found'],
    once: ({ scope, actor, params: { passkey_id: id }, body: { name } }, storeAnswer) =>
      renamePasskey(scope, actor, { id, name }, storeAnswer),
    audit: { action: 'person.passkey_renamed', subject: 'person', fields: ({ personId, name }) => ({ id: personId, name }) },
    present: toPasskeyResource,
  })
  .self({
    path: 'DELETE /account/passkeys/{passkey_id}',
    id: 'removePasskey',
    sdk: 'account.removePasskey',
    agent: { confirm: true },
    summary: 'Remove a passkey',
    description: `Removes a passkey and ends the sessions that it began. The only sign-in method cannot be removed. ${FRESH}`,
    returns: { 204: { description: 'Removed' } },
    codes: ['not_found', 'state_conflict'],
    once: async ({ scope, actor, params: { passkey_id: id } }, storeAnswer) => {
      await removePasskey(scope, actor, id, storeAnswer);
      return null;
    },
    audit: ['person.passkey_removed'],
    present: () => undefined,
    // After the change is stored, also by an earlier call that failed here.
    answered: ({ scope, actor, params: { passkey_id: passkeyId } }) => endPersonSessions(scope, actor.accountId, { passkeyId }),
  })
  .self({
    path: 'POST /account/totp',
    id: 'beginTotp',
    sdk: 'account.beginTotp',
    summary: 'Set up an authenticator app',
    description: `Returns a secret for an authenticator app, in place of one that waits for its first code. Confirm it within ten minutes. ${FRESH}`,
    returns: created(
      z
        .object({
          otpauth_uri: z.string().describe('URI of the QR code that the app scans.'),
          secret: z.string().describe('Secret in base32, to type in. Shown only in this response.'),
          expires_at: Timestamp,
        })
        .openapi('PendingTotp'),
    ),
    codes: ['state_conflict'],
    once: ({ scope, actor }, storeAnswer) => beginTotp(scope, actor, storeAnswer),
    audit: false,
    present: ({ otpauthUri, secret, expiresAt }) => ({ otpauth_uri: otpauthUri, secret, expires_at: iso(expiresAt) }),
    isSecret: true,
  })
  .self({
    path: 'POST /account/totp/confirm',
    id: 'confirmTotp',
    sdk: 'account.confirmTotp',
    summary: 'Confirm an authenticator app',
    description: 'Confirms the pending authenticator app with a code. With the first factor the response has recovery codes.',
    body: z.object({ code: TotpCode }).openapi('ConfirmTotpRequest', { example: { code: '492039' } }),
    returns: z.object({ confirmed_at: Timestamp, recovery_codes: RecoveryCodes.optional() }).openapi('ConfirmedTotp'),
    codes: ['invalid_credentials', 'state_conflict'],
    once: ({ scope, actor, body: { code } }, storeAnswer) => confirmTotp(scope, actor, code, storeAnswer),
    audit: ['person.totp_added'],
    present: ({ confirmedAt, codes }) => ({ confirmed_at: iso(confirmedAt), ...recoveryCodesOf(codes) }),
    isSecret: true,
  })
  .self({
    path: 'DELETE /account/totp',
    id: 'removeTotp',
    sdk: 'account.removeTotp',
    agent: { confirm: true },
    summary: 'Remove the authenticator app',
    description: `Removes the authenticator app. A repeated call changes nothing. ${FRESH}`,
    returns: { 204: { description: 'Removed' } },
    codes: ['state_conflict'],
    once: async ({ scope, actor }, storeAnswer) => {
      await removeTotp(scope, actor, storeAnswer);
      return null;
    },
    audit: ['person.totp_removed'],
    present: () => undefined,
  })
  .self({
    path: 'POST /account/recovery-codes',
    id: 'renewRecoveryCodes',
    sdk: 'account.renewRecoveryCodes',
    agent: { confirm: true },
    summary: 'Replace the recovery codes',
    description: `Returns ten new recovery codes and ends the earlier ones. ${FRESH}`,
    returns: z.object({ recovery_codes: RecoveryCodes }).openapi('RecoveryCodes'),
    codes: ['state_conflict'],
    once: ({ scope, actor }, storeAnswer) => renewRecoveryCodes(scope, actor, storeAnswer),
    audit: ['person.recovery_codes_renewed'],
    present: (codes) => ({ recovery_codes: [...codes] }),
    isSecret: true,
  });

const everybody = () => '';

export const factorSignInRoutes = routes('Authentication')
  .public({
    path: 'POST /auth/passkey/options',
    id: 'beginPasskeyLogin',
    sdk: 'auth.beginPasskeyLogin',
    idempotency: 'natural',
    summary: 'Begin a sign-in with a passkey',
    description: 'Returns options for `navigator.credentials.get`, valid for five minutes. They are the same for everybody.',
    bucket: 'login',
    by: everybody,
    known: anyKnownPasskey,
    returns: AuthenticationCeremony,
    answer: ({ ctx }) => beginPasskeySignIn(ctx),
  })
  .public({
    path: 'POST /auth/passkey',
    id: 'loginWithPasskey',
    sdk: 'auth.loginWithPasskey',
    idempotency: 'natural',
    summary: 'Log in with a passkey',
    description: 'Signs in with a passkey, which needs no second factor.',
    bucket: 'login',
    by: readPasskeyId,
    known: knownPasskey,
    body: PasskeyLoginRequest,
    returns: AuthResponse,
    codes: ['invalid_credentials', 'account_suspended', 'account_deleted'],
    audit: ['session.started', 'person.passkey_suspected'],
    answer: async ({ c, ctx, body: { ceremony_id: ceremonyId, response } }) => {
      const { account, signIn } = await signInWithPasskey(ctx, { ceremonyId, response }, callerOrigin(c));
      return toAuthResponse(ctx, account, signIn);
    },
  })
  .public({
    path: 'POST /auth/factor',
    id: 'loginWithFactor',
    sdk: 'auth.loginWithFactor',
    idempotency: 'natural',
    summary: 'Complete a sign-in with a factor',
    description:
      'Completes a sign-in that was refused with 401 `factor_required`, with its ticket and one proof. The fifth wrong proof spends the ticket.',
    bucket: 'login',
    ...withTicket(readTicket, 'factor'),
    body: FactorRequest,
    returns: AuthResponse,
    codes: ['invalid_credentials', 'account_suspended', 'account_deleted'],
    audit: ['session.started', 'person.provider_linked', 'person.recovery_code_used', 'person.passkey_suspected'],
    answer: async ({ c, ctx, body: { ticket, ...proof } }) => {
      const { account, signIn } = await redeemTicket(ctx, { ticket, proof: proofOf(proof) }, callerOrigin(c));
      return toAuthResponse(ctx, account, signIn);
    },
  })
  .self({
    path: 'POST /auth/step-up/options',
    id: 'beginStepUp',
    sdk: 'auth.beginStepUp',
    idempotency: 'natural',
    summary: 'Begin a step-up with a passkey',
    description: 'Returns options for `navigator.credentials.get` with your passkeys, valid for five minutes.',
    key: 'none',
    returns: AuthenticationCeremony,
    codes: ['state_conflict'],
    audit: false,
    answer: ({ scope, actor }) => beginStepUp(scope, actor),
  })
  .self({
    path: 'POST /auth/step-up',
    id: 'stepUp',
    sdk: 'auth.stepUp',
    idempotency: 'natural',
    summary: 'Prove a factor again',
    description:
      'Proves a factor in a session, with a code of the authenticator app, a recovery code or a passkey, and returns a token of the same session.',
    key: 'none',
    body: StepUpRequest,
    returns: AuthResponse,
    codes: ['invalid_credentials'],
    audit: ['person.recovery_code_used', 'person.passkey_suspected'],
    answer: async ({ scope, actor, body }) => {
      const { account, signIn } = await stepUp(scope, actor, proofOf(body));
      const acting = await findRole(scope, account, actor.actsOn ?? account.id);
      if (!acting) throw notAMember();
      return toAuthResponse(scope, account, signIn, acting);
    },
  });
