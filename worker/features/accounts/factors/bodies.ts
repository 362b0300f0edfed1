import { z } from '@hono/zod-openapi';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { orNull, Timestamp } from '#platform/http/openapi.ts';
import { AuthenticationResponse, RegistrationResponse } from '../passkeys/verify.ts';

const CeremonyId = z.string().max(2048).describe('Identifier of the ceremony, as its options name it.');
const Descriptors = z.array(
  z.object({
    id: z.string(),
    type: z.literal('public-key'),
    transports: z.array(z.string()).describe('Transports of the authenticator.'),
  }),
);
const ofOptions = {
  challenge: z.string().describe('Challenge, valid once and for five minutes.'),
  timeout: z.int().describe('Milliseconds for the person to answer.'),
};

export const RegistrationCeremony = z
  .object({
    ceremony_id: CeremonyId,
    options: z
      .object({
        ...ofOptions,
        rp: z.object({ id: z.string(), name: z.string() }),
        user: z.object({
          id: z.string().describe('Random handle of the person.'),
          name: z.string().describe('Email address or wallet of the person.'),
          displayName: z.string(),
        }),
        pubKeyCredParams: z
          .array(z.object({ type: z.literal('public-key'), alg: z.int() }))
          .describe('Algorithms, the preferred one first.'),
        excludeCredentials: Descriptors,
        authenticatorSelection: z.object({
          residentKey: z.literal('required'),
          requireResidentKey: z.boolean().describe('The same, for older browsers.'),
          userVerification: z.literal('required'),
        }),
        attestation: z.literal('none').describe('No statement about the make of the authenticator.'),
      })
      .describe('`PublicKeyCredentialCreationOptionsJSON` for `navigator.credentials.create`.'),
  })
  .openapi('PasskeyRegistrationCeremony');

export const AuthenticationCeremony = z
  .object({
    ceremony_id: CeremonyId,
    options: z
      .object({
        ...ofOptions,
        rpId: z.string(),
        allowCredentials: Descriptors.describe('Passkeys that may answer. All may if the list is empty.'),
        userVerification: z.literal('required'),
      })
      .describe('`PublicKeyCredentialRequestOptionsJSON` for `navigator.credentials.get`.'),
  })
  .openapi('PasskeyCeremony');

const PasskeyName = ShownName(64);

export const PasskeyBody = z
  .object({
    passkey_id: z.uuid(),
    name: z.string(),
    backed_up: z.boolean().describe('True if the passkey is synchronized or backed up, and so survives the loss of a device.'),
    transports: z.array(z.string()).describe('Transports of the authenticator.'),
    created_at: Timestamp,
    last_used_at: orNull(Timestamp),
  })
  .openapi('Passkey');

export const RecoveryCodes = z
  .array(z.string())
  .describe('Ten codes, each of which replaces a factor once. Shown only in this response. Store them safely.');

export const RegisterPasskeyRequest = z
  .object({
    ceremony_id: CeremonyId,
    response: RegistrationResponse.describe('`RegistrationResponseJSON` of the browser.'),
    name: PasskeyName.optional().describe('Name of the passkey. Default: the day of its registration.'),
  })
  .openapi('RegisterPasskeyRequest');
export const RenamePasskeyRequest = z.object({ name: PasskeyName }).openapi('RenamePasskeyRequest', { example: { name: 'Laptop' } });

export const PasskeyLoginRequest = z
  .object({ ceremony_id: CeremonyId, response: AuthenticationResponse.describe('`AuthenticationResponseJSON` of the browser.') })
  .openapi('PasskeyLoginRequest');

export const TotpCode = z
  .string()
  .regex(/^\d{6}$/)
  .openapi({ example: '492039' })
  .describe('Six digits of the authenticator app.');

const proofFields = {
  totp: TotpCode.optional(),
  recovery_code: z.string().min(1).max(64).optional(),
  ceremony_id: CeremonyId.optional().describe('Identifier of the passkey’s ceremony, with `response`.'),
  response: AuthenticationResponse.optional().describe('`AuthenticationResponseJSON` of the browser, with `ceremony_id`.'),
};
interface ProofFields {
  totp?: string | undefined;
  recovery_code?: string | undefined;
  ceremony_id?: string | undefined;
  response?: AuthenticationResponse | undefined;
}

const isOneProof = ({ totp, recovery_code, ceremony_id, response }: ProofFields): boolean =>
  [totp, recovery_code, ceremony_id ?? response].filter((field) => field !== undefined).length === 1 &&
  (ceremony_id === undefined) === (response === undefined);
const ONE_PROOF = { message: 'Expected exactly one of totp, recovery_code, and ceremony_id with response' };

export const FactorRequest = z
  .object({ ticket: z.string().max(2048).describe('Ticket of the refusal `factor_required`.'), ...proofFields })
  .refine(isOneProof, ONE_PROOF)
  .openapi('FactorRequest', { example: { ticket: 'eyJpZCI6…', totp: '492039' } });
export const StepUpRequest = z
  .object(proofFields)
  .refine(isOneProof, ONE_PROOF)
  .openapi('StepUpRequest', { example: { totp: '492039' } });

export const proofOf = ({ totp, recovery_code, ceremony_id: ceremonyId, response }: ProofFields) => ({
  totp,
  recoveryCode: recovery_code,
  passkey: response && { ceremonyId: ceremonyId!, response },
});
