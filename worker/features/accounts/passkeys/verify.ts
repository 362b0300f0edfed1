import { z } from '@hono/zod-openapi';
import { equalBytes, sha256 } from '#core/crypto.ts';
import { base64url, parseJson, utf8 } from '#core/encoding.ts';
import { formatErrorChain } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';
import type { Passkey } from '#platform/db/tables/office/factors.ts';
import { type Ceremony, relyingParty } from './ceremony.ts';

/** COSE: EdDSA, ES256, RS256. */
export const ALGORITHMS = [-8, -7, -257] as const;

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

const Base64Url = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\w-]+$/);
const CREDENTIAL_ID_MAX = 1364;
const ofCredential = {
  id: Base64Url(CREDENTIAL_ID_MAX),
  rawId: Base64Url(CREDENTIAL_ID_MAX),
  type: z.literal('public-key'),
  authenticatorAttachment: z.string().max(32).nullish(),
  clientExtensionResults: z.record(z.string(), z.unknown()).optional().describe('Results of extensions. Ignored.'),
};
const ClientData = Base64Url(8192);

export const RegistrationResponse = z
  .object({
    ...ofCredential,
    response: z.object({
      clientDataJSON: ClientData,
      attestationObject: Base64Url(24_576),
      transports: z.array(z.string().max(32)).max(16).optional().describe('Transports of the authenticator.'),
      authenticatorData: z.string().max(16_384).optional().describe('Copy of a part of the attestation object. Ignored.'),
      publicKey: z.string().max(16_384).optional().describe('Copy of a part of the attestation object. Ignored.'),
      publicKeyAlgorithm: z.int().optional().describe('Copy of a part of the attestation object. Ignored.'),
    }),
  })
  .openapi('PasskeyRegistrationResponse', { description: '`RegistrationResponseJSON` of Web Authentication, as `toJSON()` returns it.' });

export const AuthenticationResponse = z
  .object({
    ...ofCredential,
    response: z.object({
      clientDataJSON: ClientData,
      authenticatorData: Base64Url(8192),
      signature: Base64Url(2048),
      userHandle: z.string().max(128).nullish(),
    }),
  })
  .openapi('PasskeyAuthenticationResponse', {
    description: '`AuthenticationResponseJSON` of Web Authentication, as `toJSON()` returns it.',
  });

export type RegistrationResponse = z.infer<typeof RegistrationResponse>;
export type AuthenticationResponse = z.infer<typeof AuthenticationResponse>;

/** Reason for which a registration is refused. */
export type PasskeyProblem = 'challenge' | 'origin' | 'rp_id' | 'user_verification' | 'format';

const ClientDataFields = z.object({ challenge: z.string(), origin: z.string(), crossOrigin: z.boolean().optional() });
const USER_VERIFIED = 0x04;

function findClientProblem(clientDataJSON: string, challenge: string, origin: string): PasskeyProblem | null {
  const read = ClientDataFields.safeParse(parseJson(decode(clientDataJSON)));
  if (!read.success) return 'format';
  if (read.data.challenge !== challenge) return 'challenge';
  return read.data.origin === origin && read.data.crossOrigin !== true ? null : 'origin';
}

function findDataProblem(authenticatorData: Uint8Array, rpId: string): PasskeyProblem | null {
  if (authenticatorData.length < 37) return 'format';
  if (!equalBytes(authenticatorData.slice(0, 32), sha256(utf8(rpId)))) return 'rp_id';
  return (authenticatorData[32]! & USER_VERIFIED) === 0 ? 'user_verification' : null;
}

/** Bytes of base64url. Empty for a text that is none. */
function decode(text: string): Uint8Array {
  try {
    return base64url.decode(text);
  } catch {
    return new Uint8Array();
  }
}

type VerifiedCredential = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports' | 'isBackedUp'>;

/** Verifies the response to a registration. Returns the credential, or why it is refused. */
export async function verifyRegistration(
  ctx: Ctx,
  { challenge }: Ceremony,
  { response, ...credential }: RegistrationResponse,
): Promise<VerifiedCredential | { problem: PasskeyProblem }> {
  const { id: rpId, origin } = relyingParty(ctx);
  const clientProblem = findClientProblem(response.clientDataJSON, challenge, origin);
  if (clientProblem) return { problem: clientProblem };
  const { decodeAttestationObject, verifyRegistrationResponse } = await import('./library.ts');
  try {
    const attestation = decodeAttestationObject(Uint8Array.from(decode(response.attestationObject)));
    const problem = findDataProblem(attestation.get('authData'), rpId);
    if (problem) return { problem };
    const { clientDataJSON, attestationObject } = response;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: credential.id,
        rawId: credential.rawId,
        type: credential.type,
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!verified) return { problem: 'format' };
    const { id, publicKey, counter } = registrationInfo.credential;
    // The signed data names the credential. The text around it is not signed.
    if (id !== credential.id) return { problem: 'format' };
    return {
      credentialId: id,
      publicKey: base64url.encode(publicKey),
      counter,
      transports: TRANSPORTS.filter((known) => response.transports?.includes(known)),
      isBackedUp: registrationInfo.credentialBackedUp,
    };
  } catch (error) {
    ctx.note(`passkey: ${formatErrorChain(error)}`);
    return { problem: 'format' };
  }
}

/** Verifies that the passkey signed the challenge. Returns the counter of the signature and the state of the backup, or null. */
export async function verifyAssertion(
  ctx: Ctx,
  { challenge }: Pick<Ceremony, 'challenge'>,
  passkey: Passkey,
  { response, ...credential }: AuthenticationResponse,
): Promise<{ counter: number; isBackedUp: boolean } | null> {
  const { id: rpId, origin } = relyingParty(ctx);
  if (findClientProblem(response.clientDataJSON, challenge, origin)) return null;
  if (response.userHandle != null && response.userHandle !== passkey.userHandle) return null;
  const { verifyAuthenticationResponse } = await import('./library.ts');
  try {
    const { clientDataJSON, authenticatorData, signature } = response;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...{ id: credential.id, rawId: credential.rawId, type: credential.type, clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      // The row decides about the counter, because only the row knows the newest one.
      credential: { id: passkey.credentialId, publicKey: Uint8Array.from(decode(passkey.publicKey)), counter: 0 },
    });
    return verified ? { counter: authenticationInfo.newCounter, isBackedUp: authenticationInfo.credentialBackedUp } : null;
  } catch (error) {
    ctx.note(`passkey: ${formatErrorChain(error)}`);
    return null;
  }
}
