import { generateKeyPairSigner } from '@solana/kit';
import { World } from '../world.ts';

/** World with a reference key of its own, without cursors and candidates of earlier tests in the file. */
export async function newReferenceWorld(): Promise<World> {
  const w = new World({ SERVICE_REFERENCE: (await generateKeyPairSigner()).address });
  await w.env.DB.batch(['cursors', 'payment_candidates'].map((table) => w.env.DB.prepare(`DELETE FROM ${table}`)));
  return w;
}
