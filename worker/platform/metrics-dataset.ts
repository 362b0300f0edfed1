import { remembered } from '#core/isolate/memory.ts';
import { MINUTE } from '#core/time.ts';
import type { Env } from './context.ts';
import { takeNotesCounted } from './log.ts';

const POINTS_MAX = 250;

/** Writes one data point per sample: the metric is the index, metric and label value are the blobs. */
export function writePoints(dataset: AnalyticsEngineDataset, samples: { name: string; label?: string | undefined; value: number }[]): void {
  for (const { name, label, value } of samples.slice(0, POINTS_MAX))
    dataset.writeDataPoint({ indexes: [name], blobs: [name, label ?? ''], doubles: [value] });
}

const notes = remembered(() => ({ recordedAt: 0 }));

/** Writes this isolate's counts since the last call, at most once a minute. No other isolate knows them. */
export function recordNotes(env: Env, now: number): void {
  if (!env.METRICS || now < notes.recordedAt + MINUTE) return;
  notes.recordedAt = now;
  writePoints(
    env.METRICS,
    takeNotesCounted().map(({ about, times }) => ({ name: 'svc_notes', label: about, value: times })),
  );
}
