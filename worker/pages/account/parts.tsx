import type { Problem, SayAccount } from './facts.ts';

/** Receives the focus when the step changes, so that a screen reader announces the new step. */
export const PageTitle = ({ children }: { children?: unknown }) => (
  <h1 id="panel-title" tabindex={-1}>
    {children}
  </h1>
);

export const ProblemNote = ({ problem, say, children }: { problem: Problem | null; say: SayAccount; children?: unknown }) =>
  problem ? (
    <div class="problem">
      <strong>{say('problem')}</strong>
      <p>{say(problem.key, problem.values)}</p>
      {children}
    </div>
  ) : null;

export const FreshProblem = ({ problem, say, again }: { problem: Problem | null; say: SayAccount; again: string }) => (
  <ProblemNote problem={problem} say={say}>
    {problem?.key === 'signInOnceMore' && <a href={again}>{say('signIn')}</a>}
  </ProblemNote>
);

interface FieldTerms {
  name: string;
  label: string;
  type: 'text' | 'email' | 'password';
  autocomplete: string;
  help?: string;
}

export const Field = ({ name, label, type, autocomplete, help }: FieldTerms) => (
  <div class="field">
    <label for={name}>{label}</label>
    <input
      id={name}
      name={name}
      type={type}
      autocomplete={autocomplete}
      required
      spellcheck={false}
      autocapitalize={type === 'text' ? 'words' : 'none'}
      aria-describedby={help === undefined ? undefined : `${name}-help`}
    />
    {help !== undefined && (
      <small class="quiet" id={`${name}-help`}>
        {help}
      </small>
    )}
  </div>
);

interface PasswordTerms {
  say: SayAccount;
  isNew?: boolean;
  onShow?: (event: Event) => void;
}

export const PasswordField = ({ say, isNew = false, onShow }: PasswordTerms) => (
  <>
    <Field
      name="password"
      label={say(isNew ? 'newPassword' : 'password')}
      type="password"
      autocomplete={isNew ? 'new-password' : 'current-password'}
      help={isNew ? say('passwordHelp') : undefined}
    />
    <label class="check">
      <input type="checkbox" onChange={(event: Event) => onShow?.(event)} />
      {say('showPassword')}
    </label>
  </>
);

interface FormTerms {
  submit: string;
  isBusy: boolean;
  onSubmit?: (event: Event) => void;
  children?: unknown;
}

/** `method="post"`, so that a browser without script never puts the input into an address. */
export const Form = ({ submit, isBusy, onSubmit, children }: FormTerms) => (
  <form
    class="fields"
    method="post"
    onSubmit={(event: Event) => {
      event.preventDefault();
      onSubmit?.(event);
    }}
  >
    {children}
    <button type="submit" class="button" disabled={isBusy || !onSubmit}>
      {submit}
    </button>
  </form>
);
