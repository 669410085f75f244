"""The paper's studies as data: tasks, a resumable runner, and a report of claims."""
