// Parts of version 2 of the functions that count, beside those of version 1.

/** Refuses to go on where a statement would not see what others have committed since the transaction began. */
export const READ_COMMITTED = `
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      raise exception 'the counts of time logs would go wrong: set transaction isolation level read committed first'
        using errcode = 'invalid_transaction_state';
    end if;`;
