import { type KeyPairSigner, signBytes } from '@solana/kit';
import { base58, utf8 } from '#core/encoding.ts';
import type { Answer, World } from '../world.ts';

export async function signText(signer: KeyPairSigner, text: string): Promise<string> {
  return base58.encode(new Uint8Array(await signBytes(signer.keyPair.privateKey, utf8(text))));
}

export const askNonce = (w: World, walletAddress: string, headers: Record<string, string> = {}) =>
  w.call('POST', '/v1/auth/wallet/nonce', { headers, body: { wallet_address: walletAddress } });

/** Signs in with a wallet by the complete text or by the bare nonce. */
export async function walletSignIn(
  w: World,
  signer: KeyPairSigner,
  signed: 'message' | 'message_nonce' = 'message',
  headers: Record<string, string> = {},
): Promise<Answer<{ token: string; user_id: string }>> {
  const { body } = await askNonce(w, signer.address, headers);
  const proof = { wallet_address: signer.address, signed_message: await signText(signer, body[signed]), message_nonce: body.message_nonce };
  return w.call('POST', '/v1/auth/wallet', { headers, body: proof });
}
