import { remembered } from '#core/isolate/memory.ts';
import { MINUTE } from '#core/time.ts';
import type { Env } from './context.ts';
import { takeNotesCounted } from './log.ts';

/** The platform takes so many data points of one invocation. */
const POINTS_MAX = 250;

/** A data point a sample: its metric is the index, the metric and the value of its label are the blobs. */
export function writePoints(dataset: AnalyticsEngineDataset, samples: { name: string; label?: string | undefined; value: number }[]): void {
  for (const { name, label, value } of samples.slice(0, POINTS_MAX))
    dataset.writeDataPoint({ indexes: [name], blobs: [name, label ?? ''], doubles: [value] });
}

const notes = remembered(() => ({ recordedAt: 0 }));

/** What this isolate noted since the last time, at most once a minute: no other isolate can tell of it. */
export function recordNotes(env: Env, now: number): void {
  if (!env.METRICS || now < notes.recordedAt + MINUTE) return;
  notes.recordedAt = now;
  writePoints(
    env.METRICS,
    takeNotesCounted().map(({ about, times }) => ({ name: 'svc_notes', label: about, value: times })),
  );
}
