import { generateKeyPairSigner } from '@solana/kit';
import { World } from '../world.ts';

/** A service whose reference key nobody else's transactions carry, with nothing left of what others in this file looked for. */
export async function newReferenceWorld(): Promise<World> {
  const w = new World({ SERVICE_REFERENCE: (await generateKeyPairSigner()).address });
  await w.env.DB.batch(['cursors', 'payment_candidates'].map((table) => w.env.DB.prepare(`DELETE FROM ${table}`)));
  return w;
}
