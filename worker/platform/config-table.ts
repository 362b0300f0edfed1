import type { Variable } from './variable.ts';
import { variables } from './variables.ts';

export function configTable(): string {
  const needs = ({ needed, fallback }: Variable) => {
    if (typeof needed === 'object') return `with \`${needed.with}\``;
    return needed ?? (fallback === undefined ? 'no' : `no: \`${fallback}\``);
  };
  const rows = variables.map(([name, line]) => {
    const form = line.isSecret ? `secret: ${line.form}` : line.form;
    return `| \`${name}\` | ${form} | ${needs(line)} | ${line.meaning} |`;
  });
  return ['| Variable | Form | Needed | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}
