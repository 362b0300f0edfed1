import { type Child, useContext } from 'hono/jsx';
import { mayAct } from './acts.ts';
import { Labels, newFormKey } from './format.tsx';
import { linkTo } from './head.tsx';
import type { Answer } from './operations.ts';
import type { Acted, Refused, Screen } from './screen.tsx';

interface ActFormTerms {
  screen: Screen;
  act: string;
  /** Object that the form changes, where the screen has one form for each. */
  id?: string;
  submit: string;
  isFinal?: boolean;
  /** True if a script completes the form. It enables the button. */
  isScripted?: boolean;
  children?: Child;
}

/** Form of one act, for a role that may do it. Its key makes a second press of the button the same act. */
export const ActForm = ({ screen, act, ...terms }: ActFormTerms) =>
  mayAct(screen, act) ? <OpenForm screen={screen} act={act} {...terms} /> : null;

const OpenForm = ({ screen, act, id = '', submit, isFinal = false, isScripted = false, children }: ActFormTerms) => (
  <form class="act" method="post" action={linkTo(screen, screen.path)}>
    <input type="hidden" name="act" value={act} />
    {id !== '' && <input type="hidden" name="id" value={id} />}
    <input type="hidden" name="idempotency_key" value={newFormKey()} />
    {children}
    <button type="submit" class={isFinal ? 'final' : ''} disabled={isScripted}>
      {submit}
    </button>
  </form>
);

interface ActSectionTerms extends Pick<ActFormTerms, 'screen' | 'act' | 'children'> {
  title: string;
}

/** Section around the forms of acts that need the same access, for a role that may do them. */
export const ActSection = ({ screen, act, title, children }: ActSectionTerms) =>
  mayAct(screen, act) ? (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  ) : null;

const isOf = (refused: Refused | null, act: string, id: string): refused is Refused => refused?.act === act && refused.id === id;

function problemOf(screen: Screen, act: string, id: string, name: string): string | null {
  if (!isOf(screen.refused, act, id)) return null;
  return screen.refused.refusal.problems.find(({ loc }) => loc.slice(1).join('.') === name)?.msg ?? null;
}

interface FieldTerms {
  screen: Screen;
  act: string;
  id?: string;
  name: string;
  label: string;
  help?: string;
  type?: 'text' | 'email' | 'password' | 'date';
  autocomplete?: string;
  value?: string;
  isOptional?: boolean;
  max?: number;
  /** Lines of a field for longer text. */
  lines?: number;
  /** Texts that the browser suggests. */
  suggestions?: readonly string[];
}

interface FieldFrameTerms {
  at: string;
  label: string;
  help?: string | undefined;
  problem: string | null;
  children?: Child;
}

function FieldFrame({ at, label, help, problem, children }: FieldFrameTerms) {
  useContext(Labels)?.set(at, label);
  return (
    <div class="field">
      <label for={at}>{label}</label>
      {children}
      {help !== undefined && <small id={`${at}-help`}>{help}</small>}
      {problem !== null && (
        <small class="wrong" id={`${at}-problem`}>
          {problem}
        </small>
      )}
    </div>
  );
}

const describedBy = (at: string, help: string | undefined, problem: string | null): string | undefined =>
  [help !== undefined && `${at}-help`, problem !== null && `${at}-problem`].filter(Boolean).join(' ') || undefined;

const fieldId = (act: string, id: string, name: string): string => [act, id, name].filter(Boolean).join('-');

export function TextField({
  screen,
  act,
  id = '',
  name,
  label,
  help,
  type = 'text',
  autocomplete = 'off',
  value,
  isOptional,
  max,
  lines,
  suggestions,
}: FieldTerms) {
  const at = fieldId(act, id, name);
  const problem = problemOf(screen, act, id, name);
  const typed = isOf(screen.refused, act, id) ? screen.refused.typed[name] : undefined;
  const shared = {
    required: !isOptional,
    maxlength: max,
    'aria-invalid': problem === null ? undefined : 'true',
    'aria-describedby': describedBy(at, help, problem),
  } as const;
  const text = type === 'password' ? undefined : (typed ?? value);
  return (
    <FieldFrame at={at} label={label} help={help} problem={problem}>
      {lines === undefined ? (
        <input
          id={at}
          name={name}
          type={type}
          value={text}
          autocomplete={autocomplete}
          spellcheck={false}
          list={suggestions && `${at}-list`}
          {...shared}
        />
      ) : (
        <textarea id={at} name={name} rows={lines} {...shared}>
          {text}
        </textarea>
      )}
      {suggestions && (
        <datalist id={`${at}-list`}>
          {suggestions.map((suggestion) => (
            <option value={suggestion} />
          ))}
        </datalist>
      )}
    </FieldFrame>
  );
}

interface SelectTerms extends Omit<FieldTerms, 'type' | 'autocomplete' | 'isOptional' | 'max' | 'lines' | 'suggestions'> {
  options: readonly (readonly [value: string, text: string])[];
}

export function SelectField({ screen, act, id = '', name, label, help, value, options }: SelectTerms) {
  const at = fieldId(act, id, name);
  const problem = problemOf(screen, act, id, name);
  const chosen = (isOf(screen.refused, act, id) ? screen.refused.typed[name] : undefined) ?? value;
  return (
    <FieldFrame at={at} label={label} help={help} problem={problem}>
      <select id={at} name={name} aria-invalid={problem === null ? undefined : 'true'} aria-describedby={describedBy(at, help, problem)}>
        {options.map(([option, text]) => (
          <option value={option} selected={option === chosen}>
            {text}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}

/** Field of a final act: the name must be typed. */
export const ConfirmField = ({ screen, act, id, name }: Pick<FieldTerms, 'screen' | 'act' | 'id' | 'name'>) => (
  <TextField screen={screen} act={act} {...(id === undefined ? {} : { id })} name="confirm" label={`Type “${name}” to confirm`} />
);

/** Way to a recent proof, for a screen with acts that need one. */
export const ConfirmFirst = ({ screen }: { screen: Screen }) => (
  <p class="problem">
    Most changes need a recent proof that it is you.{' '}
    <a href={`/dashboard/confirm?next=${encodeURIComponent(linkTo(screen, screen.path))}`}>Confirm it is you</a>
  </p>
);

/** Text with a button that copies it, which the script of the dashboard shows. */
export const Copied = ({ text }: { text: string }) => (
  <>
    <code>{text}</code>{' '}
    <button type="button" class="copy" hidden>
      Copy
    </button>
  </>
);

/** Secret of an answer, in the response to the form alone. `note` says what it is for. */
export const shownOnce = <Value,>(answer: Answer<Value>, secretOf: (value: Value) => string, note?: Child): Acted =>
  answer.ok
    ? {
        ok: true,
        shown: (
          <section class="once" role="status" tabindex={-1} autofocus>
            <h2>Copy it now: it is shown once</h2>
            <p>
              <Copied text={secretOf(answer.value)} />
            </p>
            {note}
          </section>
        ),
      }
    : answer;
