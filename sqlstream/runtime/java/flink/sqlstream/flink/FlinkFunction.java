package sqlstream.flink;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.flink.api.common.functions.WithConfigurationOpenContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.functions.AggregateFunction;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.TableFunction;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.functions.UserDefinedFunctionHelper;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.extraction.ExtractionUtils;
import org.apache.flink.table.types.extraction.ExtractionUtils.Autoboxing;
import org.apache.flink.table.types.inference.TypeInferenceUtil;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.util.Collector;
import org.apache.spark.SparkRuntimeException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sqlstream.calls.JavaCall;
import sqlstream.calls.JavaFunction;
import sqlstream.functions.Failure;

/**
 * A scalar, asynchronous scalar, table or aggregate function of Flink's. An aggregate function gets the rows of a group
 * at once, as an array, or what is kept of it: an accumulator and the rows that are not in it yet.
 */
public final class FlinkFunction implements JavaFunction {
    private static final Logger LOG = LoggerFactory.getLogger(FlinkFunction.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String EVAL = "eval";
    private static final String ACCUMULATE = UserDefinedFunctionHelper.AGGREGATE_ACCUMULATE;
    private static final String RETRACT = UserDefinedFunctionHelper.AGGREGATE_RETRACT;

    private final String name;
    private final ClassLoader loader;
    private final UserDefinedFunction function;
    private final List<Argument> arguments = new ArrayList<>();
    private final DataStructureConverter<Object, Object> results;
    private final UnaryOperator<Object> toSpark;
    private final boolean wrapped;
    private final long timeout;
    private final Method method;
    // Of aggregate functions: what takes a row back, where there is such; and their accumulators, where those are kept.
    private Method retract;
    private Accumulators accumulators;
    private final List<Object> rows = new ArrayList<>();

    /**
     * A call.
     *
     * @param jars the user's
     * @param implementation the name of a class
     * @param arguments the types of the arguments, as SQL writes them
     * @param literals the values of constant arguments, null for others
     * @param parameters those of the job
     * @param timeout milliseconds that an asynchronous function may take for a row
     * @param accumulates whether an accumulator is kept of a group, and not all its rows
     */
    public record Call(
            List<String> jars,
            String implementation,
            String name,
            List<String> arguments,
            List<Object> literals,
            Map<String, String> parameters,
            long timeout,
            boolean accumulates) {}

    private record Argument(
            org.apache.spark.sql.types.DataType type,
            UnaryOperator<Object> toFlink,
            DataStructureConverter<Object, Object> toExternal) {}

    /** The function of a call that JSON describes. */
    public static JavaFunction open(String text) {
        try {
            return new FlinkFunction(JSON.readValue(text, Call.class));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e.getOriginalMessage(), e);
        }
    }

    private FlinkFunction(Call call) {
        name = call.name();
        timeout = call.timeout();
        loader = UserJars.loader(call.jars(), JavaCall.urls(call.jars()));
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            UserDefinedFunction made = Inference.instance(loader, call.implementation());
            Inference.Call typed = Inference.call(loader, made, name, call.arguments(), call.literals());
            function = Inference.specialized(made, typed);
            TypeInferenceUtil.Result types = Inference.of(typed);
            List<Class<?>> classes = new ArrayList<>();
            if (asynchronous()) {
                classes.add(CompletableFuture.class);
            } else if (function instanceof AggregateFunction) {
                DataType kept = types.getStateInfos()
                        .get(UserDefinedFunctionHelper.DEFAULT_ACCUMULATOR_NAME)
                        .getDataType();
                classes.add(kept.getConversionClass());
                if (call.accumulates()) {
                    accumulators = new Accumulators(Values.plain(kept.getLogicalType()), converter(kept));
                }
            }
            for (DataType type : types.getExpectedArgumentTypes()) {
                LogicalType plain = Values.plain(type.getLogicalType());
                arguments.add(new Argument(Values.type(plain), Values.toFlink(plain), converter(type)));
                classes.add(type.getConversionClass());
            }
            DataType result = types.getOutputDataType();
            LogicalType given = Values.plain(result.getLogicalType());
            results = converter(result);
            toSpark = Values.toSpark(given);
            wrapped = function instanceof TableFunction
                    && !given.is(org.apache.flink.table.types.logical.LogicalTypeRoot.ROW);
            Class<?>[] taken = classes.toArray(new Class<?>[0]);
            method = chosen(function.getClass(), function instanceof AggregateFunction ? ACCUMULATE : EVAL, taken);
            if (accumulators != null
                    && !ExtractionUtils.collectMethods(function.getClass(), RETRACT)
                            .isEmpty()) {
                retract = chosen(function.getClass(), RETRACT, taken);
            }
            if (function instanceof TableFunction<?> table) {
                collectInto(table);
            }
            function.open(new FunctionContext(
                    null, loader, new WithConfigurationOpenContext(Configuration.fromMap(call.parameters()))));
        } catch (Exception e) {
            throw failure(e);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Override
    public Object call(InternalRow row) {
        return inItsLoader(() -> {
            Object result = function instanceof AggregateFunction
                    ? aggregated(row)
                    : evaluated(method, row, 0, asynchronous() ? new CompletableFuture<>() : null);
            if (!(function instanceof TableFunction)) {
                return toSpark.apply(results.toInternalOrNull(result));
            }
            GenericArrayData made = new GenericArrayData(rows.toArray());
            rows.clear();
            return made;
        });
    }

    @Override
    public byte[] folded(byte[] accumulator, List<? extends InternalRow> more) {
        return inItsLoader(() -> accumulators.bytes(guarded(() -> {
            Object kept = accumulator == null ? aggregate().createAccumulator() : accumulators.of(accumulator);
            more.forEach(row -> take(row, kept));
            return kept;
        })));
    }

    /** The value of a group, which is a row: of all its rows, or of what is kept of it. */
    private Object aggregated(InternalRow group) {
        return guarded(() -> {
            if (accumulators == null) {
                Object kept = aggregate().createAccumulator();
                ArrayData all = group.getArray(0);
                for (int i = 0; i < all.numElements(); i++) {
                    evaluated(method, all.getStruct(i, arguments.size()), 0, kept);
                }
                return aggregate().getValue(kept);
            }
            InternalRow held = group.getStruct(0, 2);
            Object kept = held.isNullAt(0) ? aggregate().createAccumulator() : accumulators.of(held.getBinary(0));
            ArrayData more = held.getArray(1);
            for (int i = 0; i < more.numElements(); i++) {
                take(more.getStruct(i, arguments.size() + 1), kept);
            }
            return aggregate().getValue(kept);
        });
    }

    /** Takes {@code row} into an accumulator, or back from it, as its first column says. */
    private void take(InternalRow row, Object accumulator) {
        evaluated(row.getByte(0) < 0 ? retract : method, row, 1, accumulator);
    }

    @SuppressWarnings("unchecked") // It has made the accumulators itself.
    private AggregateFunction<Object, Object> aggregate() {
        return (AggregateFunction<Object, Object>) function;
    }

    /** What {@code work} of the user's gives. */
    private Object guarded(Supplier<Object> work) {
        try {
            return work.get();
        } catch (RuntimeException e) {
            throw e instanceof SparkRuntimeException ? e : failure(e);
        }
    }

    private <T> T inItsLoader(Supplier<T> work) {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            return work.get();
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Override
    public void close() {
        try {
            function.close();
        } catch (Exception e) {
            LOG.warn("The function {} could not be closed.", name, e);
        }
    }

    /**
     * What {@code called} gives for the values of {@code row} from column {@code from} on, and {@code leading} before
     * them where there is such.
     */
    private Object evaluated(Method called, InternalRow row, int from, Object leading) {
        int first = leading == null ? 0 : 1;
        Object[] values = new Object[arguments.size() + first];
        for (int i = 0; i < arguments.size(); i++) {
            Argument argument = arguments.get(i);
            Object value = row.isNullAt(from + i) ? null : argument.toFlink().apply(row.get(from + i, argument.type()));
            values[i + first] = argument.toExternal().toExternalOrNull(value);
        }
        if (first == 1) {
            values[0] = leading;
        }
        try {
            Object result = called.invoke(function, packed(called, values));
            return leading instanceof CompletableFuture<?> future ? future.get(timeout, TimeUnit.MILLISECONDS) : result;
        } catch (InvocationTargetException | ExecutionException e) {
            rows.clear();
            throw failure(e.getCause());
        } catch (TimeoutException e) {
            throw failure(new TimeoutException("no result within " + timeout + " ms"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure(e);
        } catch (IllegalAccessException e) {
            throw failure(e);
        }
    }

    private boolean asynchronous() {
        return function.getKind() == org.apache.flink.table.functions.FunctionKind.ASYNC_SCALAR;
    }

    /** {@code values} as the method takes them: those for its last parameter in an array, where it takes any number. */
    private static Object[] packed(Method called, Object[] values) {
        if (!called.isVarArgs()) {
            return values;
        }
        Class<?>[] types = called.getParameterTypes();
        int fixed = types.length - 1;
        if (values.length == types.length && types[fixed].isInstance(values[fixed])) {
            return values;
        }
        Object more = Array.newInstance(types[fixed].getComponentType(), values.length - fixed);
        for (int i = fixed; i < values.length; i++) {
            Array.set(more, i - fixed, values[i]);
        }
        Object[] packed = new Object[types.length];
        System.arraycopy(values, 0, packed, 0, fixed);
        packed[fixed] = more;
        return packed;
    }

    @SuppressWarnings("unchecked") // It takes what the converter does.
    private void collectInto(TableFunction<?> table) {
        ((TableFunction<Object>) table).setCollector(new Collector<>() {
            @Override
            public void collect(Object row) {
                Object made = toSpark.apply(results.toInternalOrNull(row));
                rows.add(wrapped ? new GenericInternalRow(new Object[] {made}) : made);
            }

            @Override
            public void close() {
                // There is nothing to close.
            }
        });
    }

    private DataStructureConverter<Object, Object> converter(DataType type) {
        DataStructureConverter<Object, Object> made = DataStructureConverters.getConverter(type);
        made.open(loader);
        return made;
    }

    /** The method that Java would choose for arguments of {@code classes}. */
    private static Method chosen(Class<?> type, String named, Class<?>[] classes) throws NoSuchMethodException {
        List<Method> fitting = ExtractionUtils.collectMethods(type, named).stream()
                .filter(m -> ExtractionUtils.isInvokable(Autoboxing.JVM, m, classes))
                .toList();
        for (Method method : fitting) {
            if (fitting.stream()
                    .allMatch(m -> ExtractionUtils.isInvokable(Autoboxing.JVM, m, method.getParameterTypes()))) {
                return method;
            }
        }
        if (fitting.isEmpty()) {
            throw new NoSuchMethodException("no method '" + named + "' takes these arguments");
        }
        return fitting.get(0);
    }

    /** The failure of the job, with what the user's code has said and where. */
    private RuntimeException failure(Throwable error) {
        StackTraceElement[] trace = error.getStackTrace();
        String where = "";
        for (StackTraceElement at : trace) {
            if (at.getClassName()
                    .equals(function == null ? "" : function.getClass().getName())) {
                where = ", at " + at.getFileName() + ":" + at.getLineNumber();
                break;
            }
        }
        String said = error.getMessage() == null ? "" : ": " + error.getMessage();
        return Failure.of("The function " + name + " fails: " + error.getClass().getSimpleName() + said + where + ".");
    }
}
