"""Functions of the example bank: an account that nobody should read in full, and a model's opinion of a transaction.

Whatever is decorated in a file of this folder can be called in SQL by its name. Try: sqlstream test-udf udfs/banking.py
"""

from sqlstream.udf import DataTypes, FunctionContext, ScalarFunction, udf


@udf
def mask_account(account: str, shown: int = 2) -> str:
    """Hides all but the last characters of an account.

    >>> mask_account('A00017')
    '****17'
    >>> mask_account('A00017', 0)
    '******'
    >>> mask_account(None)
    """
    if account is None:
        return None
    kept = account[len(account) - shown :] if shown else ""
    return "*" * (len(account) - len(kept)) + kept


class Unusual(ScalarFunction):
    """How unusual a transaction is: from 0, like all others, to 1.

    An isolation forest of scikit-learn, loaded once a worker: from the file that the job's parameter 'model' names (made by joblib.dump), else
    trained on what is usual at a bank. It is given whole columns.

    >>> unusual(1200.0, 30000.0) < unusual(59000.0, 100.0)
    True
    >>> unusual(None, 100.0)
    """

    def open(self, function_context: FunctionContext) -> None:
        path = function_context.get_job_parameter("model")
        if path is not None:
            import joblib

            self.model = joblib.load(path)
        else:
            self.model = trained()

    def eval(self, amount, balance):
        known = amount.notna() & balance.notna()
        scores = amount.astype("float64") * float("nan")
        if known.any():
            cases = list(zip(amount[known], balance[known], strict=True))
            scores[known] = -self.model.score_samples(cases)
        return scores


def trained():
    """The model of a bank where amounts are small beside balances; the same each time."""
    import numpy
    from sklearn.ensemble import IsolationForest

    draw = numpy.random.default_rng(7)
    balances = draw.lognormal(10, 1, 2000)
    usual = numpy.column_stack([balances * draw.uniform(0.01, 0.3, 2000), balances])
    return IsolationForest(n_estimators=50, random_state=7).fit(usual)


unusual = udf(Unusual(), input_types=[DataTypes.DOUBLE(), DataTypes.DOUBLE()], result_type=DataTypes.DOUBLE(), func_type="pandas")
