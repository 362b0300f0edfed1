import type { Child } from 'hono/jsx';
import { createRoot } from 'hono/jsx/dom/client';
import type { Say } from '../parts/text.ts';
import type { PageHolder } from './page-holder.ts';

interface Problem {
  key: string;
  values?: Record<string, string>;
}

/** Gives the links to other languages the fragment of the address, which the server does not see. */
export function carryFragment(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[hreflang]')) link.hash = location.hash;
}

export const textIn = ({ target }: Event, name: string): string => String(new FormData(target as HTMLFormElement).get(name) ?? '');

const problemsOf = (state: object): Problem[] =>
  Object.entries(state).flatMap(([name, value]) =>
    name === 'problem'
      ? value
        ? [value as Problem]
        : []
      : value !== null && typeof value === 'object' && 'problem' in value
        ? problemsOf(value)
        : [],
  );

/** Takes the page over from the server. Draws every change, announces new problems, and moves the focus when the step changes. */
export function drawOnChange<State extends { step: string }, News, Effect, Key extends string>(
  page: PageHolder<State, News, Effect>,
  panel: HTMLElement,
  say: Say<Key | 'problem'>,
  view: (state: State, say: Say<Key | 'problem'>) => Child,
): void {
  const root = createRoot(panel);
  let drawn: State | null = null;
  const draw = () => {
    const before = drawn;
    const after = page.state;
    drawn = after;
    root.render(view(after, say));
    if (before === null) return;
    const known = problemsOf(before);
    const problem = problemsOf(after).find((one) => !known.includes(one));
    const announcement = document.getElementById('announcement');
    if (announcement) announcement.textContent = problem ? `${say('problem')}. ${say(problem.key as Key, problem.values)}` : '';
    if (after.step !== before.step) setTimeout(() => document.getElementById('panel-title')?.focus());
  };
  page.onChange(draw);
  preserveInput(panel, draw);
}

/** The first drawing replaces the server's fields. Input typed before and the focus are restored. */
function preserveInput(panel: HTMLElement, draw: () => void): void {
  const isTyped = ({ type, value }: HTMLInputElement) => value !== '' && type !== 'checkbox' && type !== 'radio';
  const typed = [...panel.querySelectorAll('input')].filter(isTyped).map(({ id, value }) => ({ id, value }));
  const focusedId = panel.contains(document.activeElement) ? document.activeElement!.id : '';
  draw();
  for (const { id, value } of typed) {
    const field = document.getElementById(id);
    if (field instanceof HTMLInputElement) field.value = value;
  }
  if (focusedId !== '') document.getElementById(focusedId)?.focus();
}
