import { redirect } from 'next/navigation';
import { findAccess } from '../../lib/members';
import { readVisitor } from '../../lib/visitor';

export default async function Members() {
  const visitor = await readVisitor();
  const until = visitor === null ? null : await findAccess(visitor);
  if (until === null) redirect('/');
  return (
    <main>
      <h1>Welcome, {visitor}</h1>
      <p>{Number.isFinite(until) ? `You are a member until ${new Date(until).toISOString()}.` : 'You are a member.'}</p>
      <p>High water at 06:12 and 18:40.</p>
    </main>
  );
}
