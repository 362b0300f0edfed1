import { plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const ticketResolvedLetter: Letter<LetterFacts['ticket_resolved']> = {
  pref: null,
  to: 'owner',
  path: () => '/docs#tickets',
  values: ({ ticket_id, subject }) => ({ ticket: plainName(ticket_id), subject: plainName(subject ?? ticket_id) }),
  words: {
    en: {
      subject: 'Resolved: {subject}',
      lines: [
        'Support marked “{subject}” as resolved. If it is not, write with POST /v1/support/tickets/{ticket}/message and it is open again.',
        'After 14 days without a word it is closed.',
      ],
      button: 'What to do',
    },
    es: {
      subject: 'Resuelto: {subject}',
      lines: [
        'El equipo de soporte ha dado «{subject}» por resuelto. Si no lo está, escribe con POST /v1/support/tickets/{ticket}/message y se abrirá de nuevo.',
        'Tras 14 días sin mensajes se cierra.',
      ],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Gelöst: {subject}',
      lines: [
        'Der Support hat „{subject}“ als gelöst markiert. Wenn das nicht stimmt, schreiben Sie mit POST /v1/support/tickets/{ticket}/message, dann ist es wieder offen.',
        'Nach 14 Tagen ohne Nachricht wird es geschlossen.',
      ],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'Résolu : {subject}',
      lines: [
        'L’assistance a marqué « {subject} » comme résolu. Si ce n’est pas le cas, écrivez avec POST /v1/support/tickets/{ticket}/message et il sera rouvert.',
        'Après 14 jours sans message, il est fermé.',
      ],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'Resolvido: {subject}',
      lines: [
        'O suporte marcou “{subject}” como resolvido. Se não estiver, escreva com POST /v1/support/tickets/{ticket}/message e ele será reaberto.',
        'Após 14 dias sem mensagens, ele é fechado.',
      ],
      button: 'O que fazer',
    },
    ja: {
      subject: '解決済み：{subject}',
      lines: [
        'サポートが「{subject}」を解決済みにしました。解決していない場合は POST /v1/support/tickets/{ticket}/message で書き込むと再開されます。',
        '14日間書き込みがないと終了します。',
      ],
      button: '対処方法を見る',
    },
  },
};
