/**
 * Flags of V8 for the workerd of `npm run dev` and those of the tests. Miniflare reads them from this variable. V8 may leave a job of its
 * concurrent sweeper to a thread that never takes it up, and from then on workerd spends nine tenths of its time asking whether that job is
 * done. Without threads that collect garbage there is no such job. The bench runs without them, as the platform does.
 */
export const WORKERD_FLAGS = { MINIFLARE_WORKERD_V8_FLAGS: '--single-threaded-gc' };
