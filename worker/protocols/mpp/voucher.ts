import type { Address } from '@solana/kit';
import { base58 } from '#core/encoding.ts';
import { MONEY_UNITS_MAX } from '#core/money.ts';
import type { PresentedVoucher } from '#rules/metered/vouchers.ts';
import type { ChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import { encodeVoucher } from '#solana/programs/payment-channels/vouchers.ts';
import { verifyNatively } from '#solana/signed/native-ed25519.ts';
import type { SignedVoucher } from './session.ts';

/** Expected channel and signer of a voucher. `forms` lists the programs that could settle the voucher, in the order they are tried. */
interface VoucherSigner {
  channelId: string;
  authorizedSigner: string;
  forms: readonly ChannelProgram[];
}

/**
 * Checks the voucher's signature against the forms of the settling programs. Returns `channel-mismatch` for another channel, without a
 * signature check.
 */
export async function presentVoucher(
  { data, signature }: SignedVoucher,
  { channelId, authorizedSigner, forms }: VoucherSigner,
): Promise<
  { ok: true; voucher: PresentedVoucher; form: ChannelProgram | null } | { ok: false; reason: 'channel-mismatch' | 'invalid-cumulative' }
> {
  if (data.channelId !== channelId) return { ok: false, reason: 'channel-mismatch' };
  const cumulative = BigInt(data.cumulativeAmount);
  if (cumulative > MONEY_UNITS_MAX) return { ok: false, reason: 'invalid-cumulative' };
  const expiresAt = BigInt(data.expiresAt);
  const said = { channelId: channelId as Address, cumulativeAmount: cumulative, expiresAt };
  const [bytes, signer] = [base58.decode(signature), base58.decode(authorizedSigner)];
  let form: ChannelProgram | null = null;
  for (const program of forms) if (form === null && (await verifyNatively(bytes, encodeVoucher(program, said), signer))) form = program;
  return { ok: true, form, voucher: { cumulative, signature, expiresAt, isSigned: form !== null } };
}
