import { OPERATIONS } from '../generated/operations.ts';

/** Operation of the service, read from the generated table. */
export interface Operation {
  id: string;
  resource: string;
  method: string;
  verb: string;
  path: string;
  /** Names in `path`, in the order of the method's arguments. */
  params: string[];
  takesMode: boolean;
  takesAuthorization: boolean;
  takesBody: boolean;
  takesQuery: boolean;
  isList: boolean;
  /** True for a list that goes on after the last item, not by page number. */
  isByCursor: boolean;
  answersBytes: boolean;
  waitsForChain: boolean;
  /** True if a repeated request has no second effect. */
  isRepeatable: boolean;
}

let operations: Operation[] | null = null;

/** Returns all operations. The table is read on first use. */
export function listOperations(): Operation[] {
  operations ??= readTable();
  return operations;
}

function readTable(): Operation[] {
  let resource = '';
  return OPERATIONS.trim()
    .split('\n')
    .flatMap((line) => {
      const [id = '', method = '', verb = '', path = '', flags = ''] = line.split(' ');
      if (method === '') {
        resource = id.slice(0, -1);
        return [];
      }
      const has = (flag: string) => flags.includes(flag);
      return {
        id,
        resource,
        method,
        verb,
        path,
        params: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!),
        takesMode: has('m'),
        takesAuthorization: has('a'),
        takesBody: has('b'),
        takesQuery: has('q'),
        isList: has('p') || has('e'),
        isByCursor: has('e'),
        answersBytes: has('r'),
        waitsForChain: has('w'),
        isRepeatable: !has('o'),
      };
    });
}
