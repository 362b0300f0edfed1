import { generateKeyPairSync, sign } from 'node:crypto';
import { base58 } from '#core/encoding.ts';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { encodeVoucher } from '#solana/programs/payment-channels/vouchers.ts';
import { requestText } from './client.ts';
import { type Prepared, post, type Row, type Target } from './rows.ts';

interface BenchSession {
  sessionId: string;
  channelId: string;
}

/** Of an Ed25519 key in DER, the last bytes. */
const KEY_BYTES = 32;
const NEVER = 4_102_444_800;
const AMOUNT = 1;

/**
 * A session for each client, which announces a use and then pays for it, as the public client does: a session has one buyer, whose
 * vouchers come one after the other. Each is signed here and checked by the service.
 */
export async function prepareMetered(row: Row, target: Target, clients: number): Promise<Prepared> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const signer = base58.encode(new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES)));
  const sessions = await post<BenchSession[]>(target.port, '/bench/sessions', { count: clients, signer });
  const sent = sessions.map(() => 0);
  const announced = ({ channelId }: BenchSession, deliveryId: string) =>
    requestText('POST', '/__402/session/deliveries', {}, JSON.stringify({ amount: `${AMOUNT}`, deliveryId, sessionId: channelId }));
  const committed = ({ sessionId, channelId }: BenchSession, deliveryId: string, cumulative: number) => {
    const said = { channelId: channelId as never, cumulativeAmount: BigInt(cumulative), expiresAt: BigInt(NEVER) };
    const signature = base58.encode(new Uint8Array(sign(null, encodeVoucher(CHANNEL_PROGRAMS.older, said), privateKey)));
    const voucher = { data: { channelId, cumulativeAmount: `${cumulative}`, expiresAt: NEVER }, signature };
    return requestText('POST', `/v1/access/metered-sessions/${sessionId}/commits`, {}, JSON.stringify({ deliveryId, voucher }));
  };
  return {
    request: (_, client) => {
      const session = sessions[client]!;
      const step = sent[client]!++;
      const use = Math.floor(step / 2) + 1;
      return step % 2 === 0 ? announced(session, `use-${use}`) : committed(session, `use-${use}`, use * AMOUNT);
    },
    spent: async () => null,
    check: async () => {
      const { promised } = await post<{ promised: number }>(target.port, '/bench/promised', sessions);
      const expected = sent.reduce((sum, steps) => sum + Math.floor(steps / 2) * AMOUNT, 0);
      if (promised !== expected) throw new Error(`${row.name}: ${expected} units were paid for, ${promised} are promised`);
    },
  };
}
